import { z } from 'zod';
import {
  asInteger,
  configSections,
  databaseConfig,
  databaseSchemaConfig,
  type Environment,
  kafkaConfig,
  parseConfig,
  processConfig,
  registryConfig,
  tracesConfig,
  withDefault,
} from '@waypost/platform';

export const APPLICATION = 'history-projector';

/** WAYPOST_PROJECTION_TRANSACTIONS: how many transactions with deliveries run in the database at a time. */
export const projectionConfig = z
  .object({ WAYPOST_PROJECTION_TRANSACTIONS: withDefault(asInteger(1, 8), 'a whole number from 1 to 8', 1) })
  .transform((env) => ({ transactionsAtOnce: env.WAYPOST_PROJECTION_TRANSACTIONS }));

const schema = configSections({
  process: processConfig,
  traces: tracesConfig(APPLICATION),
  kafka: kafkaConfig(APPLICATION),
  registry: registryConfig,
  database: databaseConfig,
  databaseSchema: databaseSchemaConfig,
  projection: projectionConfig,
});

export type HistoryProjectorConfig = z.output<typeof schema>;

export function readConfig(env: Environment = process.env): HistoryProjectorConfig {
  return parseConfig(schema, env);
}
