import { z } from 'zod';
import { RULE_SETS } from '@waypost/domain';
import {
  asInteger,
  asOneOf,
  asText,
  configSections,
  type Environment,
  kafkaConfig,
  parseConfig,
  processConfig,
  registryConfig,
  tracesConfig,
  withDefault,
} from '@waypost/platform';

export const APPLICATION = 'telemetry-processor';

/** WAYPOST_STATE_DIR: the folder for checkpoints of the device state; unset: none. */
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

/**
 * WAYPOST_LINGER_MS: how long a partition waits after a small transaction, so that further pings share the next; unset:
 * by the partition count.
 */
const lingerConfig = z
  .object({
    WAYPOST_LINGER_MS: withDefault(asInteger(0, 2_000), 'a whole number of milliseconds from 0 to 2000', undefined),
  })
  .transform((env) => env.WAYPOST_LINGER_MS);

const schema = configSections({
  process: processConfig,
  traces: tracesConfig(APPLICATION),
  kafka: kafkaConfig(APPLICATION),
  registry: registryConfig,
  stateDir: stateDirConfig,
  rules: rulesConfig,
  lingerMs: lingerConfig,
});

export type TelemetryProcessorConfig = z.output<typeof schema>;

export function readConfig(env: Environment = process.env): TelemetryProcessorConfig {
  return parseConfig(schema, env);
}
