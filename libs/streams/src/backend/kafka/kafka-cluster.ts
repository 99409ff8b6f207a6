import type { KafkaSettings } from '../../kafka-settings.js';
import { silentLogger } from '../../logger.js';
import { KafkaClient } from './kafka-client.js';
import { isDenial, refusal } from './kafka-errors.js';
import { type KafkajsBroker, type MetadataResponse, withoutErrors } from './kafkajs/kafkajs-patches.js';

export interface KafkaPartition {
  /** null: no leader at the moment. */
  readonly leader: number | null;
  /** Ids of brokers, including those that are away. */
  readonly replicas: readonly number[];
  readonly inSync: readonly number[];
}

export interface KafkaClusterState {
  readonly brokers: readonly number[];
  /** The topics that this login may see, internal ones included. */
  readonly topics: ReadonlyMap<string, readonly KafkaPartition[]>;
}

/** Reads a cluster's description, even while brokers are away. Changes nothing in it. */
export interface KafkaClusterReader {
  state(): Promise<KafkaClusterState>;
  /** Includes defaults; null: this login may not read them. */
  brokerSettings(broker: number): Promise<ReadonlyMap<string, string> | null>;
  topicSettings(topic: string): Promise<ReadonlyMap<string, string> | null>;
  close(): Promise<void>;
}

interface Metadata extends MetadataResponse {
  readonly brokers: readonly { readonly nodeId: number }[];
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number;
    readonly topic: string;
    readonly partitionMetadata: {
      readonly partitionErrorCode: number;
      readonly partitionId: number;
      readonly leader: number;
      readonly replicas: readonly number[];
      readonly isr: readonly number[];
    }[];
  }[];
}

interface Configs {
  readonly resources: readonly {
    readonly errorCode: number;
    readonly configEntries: readonly { readonly configName: string; readonly configValue: string }[];
  }[];
}

export const TOPIC = 2;
const BROKER = 4;
/** kafkajs takes an empty list for all topics. */
const ALL_TOPICS = { topics: [], allowAutoTopicCreation: false };

export function openClusterReader(settings: KafkaSettings): KafkaClusterReader {
  const client = new KafkaClient(settings, silentLogger);
  return {
    state: async () => {
      const answer = await client.ask<Metadata>(await client.anyBroker(), 'Metadata', 6, ALL_TOPICS);
      return stateOf(withoutErrors(answer));
    },
    // Only the broker itself knows its settings.
    brokerSettings: async (broker) => configsOf(client, await client.broker(String(broker)), BROKER, String(broker)),
    topicSettings: async (topic) => configsOf(client, await client.anyBroker(), TOPIC, topic),
    close: () => client.close(),
  };
}

function stateOf({ brokers, topicMetadata }: Metadata): KafkaClusterState {
  return {
    brokers: brokers.map(({ nodeId }) => nodeId).sort((a, b) => a - b),
    topics: new Map(
      topicMetadata.map(({ topic, partitionMetadata }) => [
        topic,
        partitionMetadata.map(({ leader, replicas, isr }) => ({
          leader: leader < 0 ? null : leader,
          replicas,
          inSync: isr,
        })),
      ]),
    ),
  };
}

/** Includes defaults; null: this login may not read them. */
export async function configsOf(
  client: KafkaClient,
  broker: KafkajsBroker,
  type: number,
  name: string,
): Promise<Map<string, string> | null> {
  const wanted = { resources: [{ type, name, configNames: [] }], includeSynonyms: false };
  const { resources } = await client.ask<Configs>(broker, 'DescribeConfigs', 2, wanted);
  const code = resources.map(({ errorCode }) => errorCode).find((one) => one !== 0);
  if (code !== undefined && isDenial(code)) return null;
  if (code !== undefined) throw refusal(`Reading the settings of ${name}`, code, { code });
  const entries = resources.flatMap(({ configEntries }) => configEntries);
  return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
}
