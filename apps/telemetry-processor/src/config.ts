import {
  configSections,
  kafkaConfig,
  parseConfig,
  processConfig,
  registryConfig,
  type Environment,
  type ProcessConfig,
} from '@waypost/platform';
import type { KafkaSettings } from '@waypost/streams';

export interface TelemetryProcessorConfig {
  readonly process: ProcessConfig;
  readonly kafka: KafkaSettings;
  readonly registry: { readonly url: string };
}

export const readConfig = (env: Environment = process.env): TelemetryProcessorConfig =>
  parseConfig(
    configSections({ process: processConfig, kafka: kafkaConfig('telemetry-processor'), registry: registryConfig }),
    env,
  );
