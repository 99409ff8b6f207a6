import { type KafkaSettings, silentLogger } from '@waypost/streams';
import {
  describeConfigs,
  KafkaClient,
  type KafkajsBroker,
  type MetadataResponse,
  withoutErrors,
} from '@waypost/streams/kafka';
import { askInTurn } from './ask-in-turn.js';

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
  /** @param via the id of the broker to ask; by default any */
  topicSettings(topic: string, via?: number): Promise<ReadonlyMap<string, string> | null>;
  close(): Promise<void>;
}

/** kafkajs takes an empty list for all topics. */
const ALL_TOPICS = { topics: [], allowAutoTopicCreation: false };

export function openClusterReader(settings: KafkaSettings): KafkaClusterReader {
  const client = new KafkaClient(settings, silentLogger);
  return {
    state: async () => {
      const ask = (broker: KafkajsBroker) => client.ask<MetadataResponse>(broker, 'Metadata', 6, ALL_TOPICS);
      return stateOf(withoutErrors(await askInTurn(client, ask)));
    },
    // Only the broker itself knows its settings.
    brokerSettings: async (id) => {
      const name = String(id);
      return describeConfigs(client, await client.broker(name), { type: 'broker', name });
    },
    topicSettings: async (name, via) => {
      const broker = via === undefined ? await client.anyBroker() : await client.broker(String(via));
      return describeConfigs(client, broker, { type: 'topic', name });
    },
    close: () => client.close(),
  };
}

function stateOf({ brokers, topicMetadata }: MetadataResponse): KafkaClusterState {
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
