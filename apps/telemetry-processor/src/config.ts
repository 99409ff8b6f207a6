import {
  asText,
  configSections,
  kafkaConfig,
  parseConfig,
  processConfig,
  registryConfig,
  type Environment,
  withDefault,
  type ProcessConfig,
} from '@waypost/platform';
import type { KafkaSettings } from '@waypost/streams';
import { z } from 'zod';

export interface TelemetryProcessorConfig {
  readonly process: ProcessConfig;
  readonly kafka: KafkaSettings;
  readonly registry: { readonly url: string };
  /** Where snapshots of the device state are kept; undefined: nowhere. */
  readonly stateDir: string | undefined;
}

/** WAYPOST_STATE_DIR. */
const stateDirConfig = z
  .object({
    WAYPOST_STATE_DIR: withDefault(
      (text) => (text === '' ? undefined : asText(text)),
      'a directory that belongs to this process alone',
      undefined,
    ),
  })
  .transform((env) => env.WAYPOST_STATE_DIR);

export const readConfig = (env: Environment = process.env): TelemetryProcessorConfig =>
  parseConfig(
    configSections({
      process: processConfig,
      kafka: kafkaConfig('telemetry-processor'),
      registry: registryConfig,
      stateDir: stateDirConfig,
    }),
    env,
  );
