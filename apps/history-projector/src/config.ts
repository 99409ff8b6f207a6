import {
  configSections,
  databaseConfig,
  kafkaConfig,
  parseConfig,
  processConfig,
  registryConfig,
  type Environment,
  type ProcessConfig,
} from '@waypost/platform';
import type { KafkaSettings } from '@waypost/streams';
import { projectionConfig } from './projection-config.js';

export interface HistoryProjectorConfig {
  readonly process: ProcessConfig;
  readonly kafka: KafkaSettings;
  readonly registry: { readonly url: string };
  readonly database: { readonly url: string };
  readonly projection: { readonly transactionsAtOnce: number };
}

export const readConfig = (env: Environment = process.env): HistoryProjectorConfig =>
  parseConfig(
    configSections({
      process: processConfig,
      kafka: kafkaConfig('history-projector'),
      registry: registryConfig,
      database: databaseConfig,
      projection: projectionConfig,
    }),
    env,
  );
