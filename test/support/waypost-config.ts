/** The environment of the product under test: a user's, without what Jest and the test run have added to it. */
export function productEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const added = /^(NODE_OPTIONS|NODE_ENV|JEST_.*|WAYPOST_TEST_.*|npm_.*|KAFKA_.*|SCHEMA_REGISTRY_URL|DATABASE_URL)$/;
  const users = Object.fromEntries(Object.entries(process.env).filter(([name]) => !added.test(name)));
  return { ...users, ...more };
}

/** Data directory of the product that all end-to-end tests of a run share. */
export function sharedDataDir(): string {
  const dataDir = process.env['WAYPOST_TEST_DATA_DIR'];
  if (dataDir === undefined) throw new Error('The product is not running: these tests belong to the Jest project e2e.');
  return dataDir;
}
