import {
  configSections,
  egressConfig,
  kafkaConfig,
  parseConfig,
  processConfig,
  registryConfig,
  sealingKeyConfig,
  type EgressConfig,
  type Environment,
  type ProcessConfig,
} from '@waypost/platform';
import type { KafkaSettings } from '@waypost/streams';
import { replayConfig, type ReplayConfig } from './replay/replay-config.js';

export interface WebhookDeliveryConfig {
  readonly process: ProcessConfig;
  readonly kafka: KafkaSettings;
  readonly registry: { readonly url: string };
  readonly egress: EgressConfig;
  readonly sealingKey: Buffer;
  readonly replay: ReplayConfig;
}

export const readConfig = (env: Environment = process.env): WebhookDeliveryConfig =>
  parseConfig(
    configSections({
      process: processConfig,
      kafka: kafkaConfig('webhook-delivery'),
      registry: registryConfig,
      egress: egressConfig,
      sealingKey: sealingKeyConfig,
      replay: replayConfig,
    }),
    env,
  );
