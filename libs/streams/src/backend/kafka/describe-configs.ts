import type { KafkaClient } from './kafka-client.js';
import { isDenial, refusal } from './kafka-errors.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';

export interface ConfigResource {
  readonly type: 'topic' | 'broker';
  readonly name: string;
}

interface Configs {
  readonly resources: readonly {
    readonly errorCode: number;
    readonly configEntries: readonly { readonly configName: string; readonly configValue: string }[];
  }[];
}

const TYPES = { topic: 2, broker: 4 } as const;

/** Includes defaults; null: this login may not read them. */
export async function describeConfigs(
  client: KafkaClient,
  broker: KafkajsBroker,
  { type, name }: ConfigResource,
): Promise<Map<string, string> | null> {
  const wanted = { resources: [{ type: TYPES[type], name, configNames: [] }], includeSynonyms: false };
  const { resources } = await client.ask<Configs>(broker, 'DescribeConfigs', 2, wanted);
  const code = resources.map(({ errorCode }) => errorCode).find((one) => one !== 0);
  if (code !== undefined && isDenial(code)) return null;
  if (code !== undefined) throw refusal(`Reading the settings of ${name}`, code, { code });
  const entries = resources.flatMap(({ configEntries }) => configEntries);
  return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
}
