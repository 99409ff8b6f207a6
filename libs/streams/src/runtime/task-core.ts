import { createTransactionalStore, type TransactionalStore } from '../state/transactional-store.js';
import { partitionForKey } from '../topology/partitioner.js';
import type { KeyValueStore, Processor, ProcessorContext, Topology } from '../topology/topology.js';
import type { OutgoingRecord, StreamRecord, TopicPartition } from '../record.js';

/** A topology at work on one partition, without Kafka: what the runtime and the test driver have in common. */
export interface TaskCore {
  readonly processor: Processor;
  readonly stores: ReadonlyMap<string, TransactionalStore<unknown>>;
  process(record: StreamRecord): void;
  /** Bytes of the values forwarded since the last commit. */
  readonly outputBytes: number;
  /** Whether anything was forwarded or a store has changed since the last commit. */
  readonly changed: boolean;
  /** Outputs and changelog records since the last commit, in the order in which they arose. */
  pending(): OutgoingRecord[];
  commit(): void;
}

export interface TaskCoreOptions {
  readonly topology: Topology;
  readonly partition: TopicPartition;
  /** Partitions of each sink topic that is written by key. */
  readonly partitionCounts: ReadonlyMap<string, number>;
  readonly now: () => number;
}

export const createTaskCore = ({ topology, partition, partitionCounts, now }: TaskCoreOptions): TaskCore => {
  const definitions = Object.entries(topology.stores ?? {});
  const stores = new Map(definitions.map(([name, { serde }]) => [name, createTransactionalStore<unknown>(serde)]));
  let outputs: OutgoingRecord[] = [];
  let outputBytes = 0;
  const context: ProcessorContext = {
    ...partition,
    now,
    forward: (sinkName, { key, value }) => {
      const sink = topology.sinks[sinkName];
      if (!sink) throw new Error(`The topology ${topology.applicationId} has no sink named ${sinkName}.`);
      const target =
        sink.partitioner === 'source-partition' ? partition.partition : byKey(sink.topic, key, partitionCounts);
      outputs.push({ topic: sink.topic, partition: target, key, value });
      outputBytes += value?.length ?? 0;
    },
    store: <T>(name: string): KeyValueStore<T> => {
      const store = stores.get(name);
      if (!store) throw new Error(`The topology ${topology.applicationId} has no store named ${name}.`);
      return store as unknown as KeyValueStore<T>;
    },
  };
  const processor = topology.processor(context);
  const changelog = (): OutgoingRecord[] =>
    definitions.flatMap(([name, { changelogTopic }]) =>
      (stores.get(name)?.changes() ?? []).map((change) => ({
        topic: changelogTopic,
        partition: partition.partition,
        ...change,
      })),
    );
  return {
    get outputBytes() {
      return outputBytes;
    },
    get changed() {
      return outputs.length > 0 || [...stores.values()].some((store) => store.dirty);
    },
    processor,
    stores,
    process: (record) => {
      processor.process(record);
    },
    pending: () => [...outputs, ...changelog()],
    commit: () => {
      outputs = [];
      outputBytes = 0;
      for (const store of stores.values()) store.commit();
    },
  };
};

const byKey = (topic: string, key: Buffer | null, partitionCounts: ReadonlyMap<string, number>): number => {
  const partitions = partitionCounts.get(topic);
  if (partitions === undefined || key === null)
    throw new Error(`A record for ${topic} needs a key to find its partition.`);
  return partitionForKey(key, partitions);
};
