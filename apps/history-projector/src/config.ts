import { z } from 'zod';
import {
  asInteger,
  configSections,
  databaseConfig,
  databaseSchemaConfig,
  type Environment,
  kafkaConfig,
  parseConfig,
  type ProcessConfig,
  processConfig,
  type RegistryConfig,
  registryConfig,
  type TracesConfig,
  tracesConfig,
  withDefault,
} from '@waypost/platform';
import type { KafkaSettings } from '@waypost/streams';

export const APPLICATION = 'history-projector';

export interface HistoryProjectorConfig {
  readonly process: ProcessConfig;
  readonly traces: TracesConfig;
  readonly kafka: KafkaSettings;
  readonly registry: RegistryConfig;
  readonly database: { readonly url: string };
  readonly databaseSchema: { readonly schemaUrl: string | undefined };
  readonly projection: { readonly transactionsAtOnce: number };
}

/** WAYPOST_PROJECTION_TRANSACTIONS: how many transactions with deliveries the database has at a time. */
export const projectionConfig: z.ZodType<{ readonly transactionsAtOnce: number }> = z
  .object({ WAYPOST_PROJECTION_TRANSACTIONS: withDefault(asInteger(1, 8), 'a whole number from 1 to 8', 1) })
  .transform((env) => ({ transactionsAtOnce: env.WAYPOST_PROJECTION_TRANSACTIONS }));

export function readConfig(env: Environment = process.env): HistoryProjectorConfig {
  return parseConfig(
    configSections({
      process: processConfig,
      traces: tracesConfig(APPLICATION),
      kafka: kafkaConfig(APPLICATION),
      registry: registryConfig,
      database: databaseConfig,
      databaseSchema: databaseSchemaConfig,
      projection: projectionConfig,
    }),
    env,
  );
}
