import { z } from 'zod';
import {
  asInteger,
  configSections,
  egressConfig,
  type Environment,
  kafkaConfig,
  parseConfig,
  processConfig,
  registryConfig,
  sealingKeysConfig,
  tracesConfig,
  withDefault,
} from '@waypost/platform';

export const APPLICATION = 'webhook-delivery';

/** The maximum number of unsent deliveries per replay. */
const replayConfig = z
  .object({
    WAYPOST_REPLAY_MAX_UNSENT: withDefault(
      asInteger(1, 1_000_000),
      'deliveries of one replay that are written but not yet sent, from 1',
      1_000,
    ),
  })
  .transform((env) => ({ maxUnsent: env.WAYPOST_REPLAY_MAX_UNSENT }));

const schema = configSections({
  process: processConfig,
  traces: tracesConfig(APPLICATION),
  kafka: kafkaConfig(APPLICATION),
  registry: registryConfig,
  egress: egressConfig,
  sealingKeys: sealingKeysConfig,
  replay: replayConfig,
});

export type WebhookDeliveryConfig = z.output<typeof schema>;

export function readConfig(env: Environment = process.env): WebhookDeliveryConfig {
  return parseConfig(schema, env);
}
