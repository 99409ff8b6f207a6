/** Where the servers of the integration tests are. */
export interface TestStack {
  readonly brokers: string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
}

/** The stack that the run of the integration tests has started. */
export function requireTestStack(): TestStack {
  const {
    WAYPOST_TEST_BROKERS: brokers,
    WAYPOST_TEST_REGISTRY_URL: registryUrl,
    WAYPOST_TEST_DATABASE_URL: databaseUrl,
  } = process.env;
  if (brokers === undefined || registryUrl === undefined || databaseUrl === undefined)
    throw new Error('There is no stack for integration tests: run them with "npm run test:int -- PATH".');
  return { brokers: brokers.split(','), registryUrl, databaseUrl };
}
