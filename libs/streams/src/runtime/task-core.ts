import type { RecordBuffer } from '../output/record-buffer.js';
import { RecordBuffers } from '../output/record-buffers.js';
import type { StateStore } from '../state/state-store.js';
import { undeclared } from '../topology/check-topology.js';
import { partitionForKey } from '../topology/partitioner.js';
import type { ContextOf, ForwardedRecord, Processor, Topology } from '../topology/topology.js';
import type { StreamRecord, TopicPartition } from '../record.js';
import { createPunctuation } from './punctuation.js';

/** A topology at work on one partition, without Kafka: what the runtime and the test driver have in common. */
export interface TaskCore {
  readonly processor: Processor;
  readonly stores: ReadonlyMap<string, StateStore>;
  /** Stream time, to be committed with the position. */
  streamTimeMs(): number | null;
  process(record: StreamRecord): void;
  /** Calls the punctuators that are due by the wall clock. */
  punctuate(): void;
  /** Bytes of the values forwarded since the last commit. */
  readonly outputBytes: number;
  /** Whether anything was forwarded or a store has changed since the last commit. */
  readonly changed: boolean;
  /** Outputs and changelog records since the last commit; of each partition in the order in which they arose. */
  pending(): RecordBuffers;
  commit(): void;
}

export interface TaskCoreOptions {
  readonly topology: Topology;
  readonly partition: TopicPartition;
  /** Those of the partition, where they outlive the task; new ones unless given. */
  readonly stores?: ReadonlyMap<string, StateStore>;
  /** Partitions of each sink topic that is written by key. */
  readonly partitionCounts: ReadonlyMap<string, number>;
  readonly now: () => number;
  /** As it was committed with the position. */
  readonly streamTimeMs: number | null;
}

export const createTaskCore = (options: TaskCoreOptions): TaskCore => {
  const { topology, partition, partitionCounts, now } = options;
  const definitions = Object.entries(topology.stores ?? {});
  const stores: ReadonlyMap<string, StateStore> =
    options.stores ?? new Map(definitions.map(([name, { createStore }]) => [name, createStore()]));
  const outputs = new RecordBuffers();
  const changelogs = definitions.map(
    ([name, { changelogTopic }]) => [stores.get(name), outputs.to(changelogTopic, partition.partition)] as const,
  );
  let forwarded = 0;
  let outputBytes = 0;
  const punctuation = createPunctuation(options);
  const context: ContextOf<Topology> = {
    ...partition,
    now,
    streamTimeMs: punctuation.streamTimeMs,
    schedule: punctuation.schedule,
    forward: (sinkName, { key, value }) => {
      const sink = topology.sinks[sinkName];
      if (!sink) throw undeclared('sink', sinkName, topology.applicationId, Object.keys(topology.sinks));
      const target =
        sink.partitioner === 'source-partition' ? partition.partition : byKey(sink.topic, key, partitionCounts);
      outputBytes += append(outputs.to(sink.topic, target), key, value);
      forwarded++;
    },
    store: (name) => {
      const store = stores.get(name);
      if (!store) throw undeclared('store', name, topology.applicationId, [...stores.keys()]);
      return store;
    },
  };
  const processor = topology.processor(context);
  return {
    get outputBytes() {
      return outputBytes;
    },
    get changed() {
      return forwarded > 0 || [...stores.values()].some(({ changeCount }) => changeCount > 0);
    },
    processor,
    stores,
    streamTimeMs: punctuation.streamTimeMs,
    process: (record) => {
      punctuation.moveStreamTime(record.timestamp);
      processor.process(record);
      punctuation.punctuateStreamTime();
    },
    punctuate: punctuation.punctuateWallClock,
    pending: () => {
      for (const [store, changelog] of changelogs) writeChangelog(store, changelog);
      return outputs;
    },
    commit: () => {
      outputs.clear();
      forwarded = 0;
      outputBytes = 0;
      for (const store of stores.values()) store.commit();
    },
  };
};

/** Anew, if the transaction is looked at more than once. */
const writeChangelog = (store: StateStore | undefined, changelog: RecordBuffer): void => {
  changelog.clear();
  store?.writeChanges(changelog);
};

/** @returns the bytes of the value */
const append = (into: RecordBuffer, key: Buffer | null, value: ForwardedRecord['value']): number => {
  if (value === null || value instanceof Uint8Array) {
    into.append(key, value);
    return value?.length ?? 0;
  }
  into.appendRanges(key, 0, key?.length ?? 0, value.bytes, value.start, value.end);
  return value.end - value.start;
};

const byKey = (topic: string, key: Buffer | null, partitionCounts: ReadonlyMap<string, number>): number => {
  const partitions = partitionCounts.get(topic);
  if (partitions === undefined || key === null)
    throw new Error(`A record for ${topic} needs a key to find its partition.`);
  return partitionForKey(key, partitions);
};
