import { z } from 'zod';
import { RULE_SETS, type RuleSet } from '@waypost/domain';
import {
  asInteger,
  asOneOf,
  asText,
  configSections,
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

export const APPLICATION = 'telemetry-processor';

export interface TelemetryProcessorConfig {
  readonly process: ProcessConfig;
  readonly traces: TracesConfig;
  readonly kafka: KafkaSettings;
  readonly registry: RegistryConfig;
  /** Where checkpoints of the device state are kept; undefined: nowhere. */
  readonly stateDir: string | undefined;
  readonly rules: RuleSet;
  /** How long a partition waits after a small transaction, so that the pings that come meanwhile share the next; undefined: by their count. */
  readonly lingerMs: number | undefined;
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

/** WAYPOST_RULES. */
const rulesConfig = z
  .object({ WAYPOST_RULES: withDefault(asOneOf(...RULE_SETS), `one of ${RULE_SETS.join(', ')}`, 'all') })
  .transform((env) => env.WAYPOST_RULES);

/** WAYPOST_LINGER_MS. */
const lingerConfig = z
  .object({
    WAYPOST_LINGER_MS: withDefault(asInteger(0, 2_000), 'a whole number of milliseconds from 0 to 2000', undefined),
  })
  .transform((env) => env.WAYPOST_LINGER_MS);

export function readConfig(env: Environment = process.env): TelemetryProcessorConfig {
  return parseConfig(
    configSections({
      process: processConfig,
      traces: tracesConfig(APPLICATION),
      kafka: kafkaConfig(APPLICATION),
      registry: registryConfig,
      stateDir: stateDirConfig,
      rules: rulesConfig,
      lingerMs: lingerConfig,
    }),
    env,
  );
}
