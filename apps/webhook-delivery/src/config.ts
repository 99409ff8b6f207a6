import { z } from 'zod';
import {
  asInteger,
  configSections,
  type EgressConfig,
  egressConfig,
  type Environment,
  kafkaConfig,
  parseConfig,
  type ProcessConfig,
  processConfig,
  type RegistryConfig,
  registryConfig,
  sealingKeysConfig,
  type TracesConfig,
  tracesConfig,
  withDefault,
} from '@waypost/platform';
import type { KafkaSettings } from '@waypost/streams';

export const APPLICATION = 'webhook-delivery';

export interface WebhookDeliveryConfig {
  readonly process: ProcessConfig;
  readonly traces: TracesConfig;
  readonly kafka: KafkaSettings;
  readonly registry: RegistryConfig;
  readonly egress: EgressConfig;
  readonly sealingKeys: readonly Buffer[];
  readonly replay: ReplayConfig;
}

export function readConfig(env: Environment = process.env): WebhookDeliveryConfig {
  return parseConfig(
    configSections({
      process: processConfig,
      traces: tracesConfig(APPLICATION),
      kafka: kafkaConfig(APPLICATION),
      registry: registryConfig,
      egress: egressConfig,
      sealingKeys: sealingKeysConfig,
      replay: replayConfig,
    }),
    env,
  );
}

/** How far replays may be ahead of what is sent. */
const replayConfig = z
  .object({
    WAYPOST_REPLAY_MAX_UNSENT: withDefault(
      asInteger(1, 1_000_000),
      'deliveries of one replay that are written and not yet sent, from 1',
      1_000,
    ),
  })
  .transform((env) => ({ maxUnsent: env.WAYPOST_REPLAY_MAX_UNSENT }));

export interface ReplayConfig {
  readonly maxUnsent: number;
}
