import type { StreamRecord } from '../record.js';

/** Turns the values of a store into changelog bytes and back. */
export interface Serde<T> {
  serialize(value: T): Buffer;
  deserialize(bytes: Buffer): T;
}

export interface KeyValueStore<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
  delete(key: string): void;
}

export interface StoreDefinition<T> {
  /** Compacted, with as many partitions as the source. */
  readonly changelogTopic: string;
  readonly serde: Serde<T>;
  /** Before the restore reads the changelog's values, e.g. to look up schemas. */
  readonly prepare?: (records: readonly StreamRecord[]) => Promise<void>;
}

/**
 * Where a processor's output goes. `source-partition`: the partition of the input record, so each output partition has
 * one writer and keeps the input's order. `key`: by the key's hash, as every Kafka client does it; several writers.
 */
export interface SinkDefinition {
  readonly topic: string;
  readonly partitioner: 'source-partition' | 'key';
}

export interface ForwardedRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

export interface ProcessorContext {
  readonly topic: string;
  readonly partition: number;
  /** Wall clock, epoch ms; for what is told to people, never for a rule about events. */
  now(): number;
  forward(sink: string, record: ForwardedRecord): void;
  store<T>(name: string): KeyValueStore<T>;
}

export interface Processor {
  /** Before the records of a batch: the only place that may wait. A rejection rebuilds the task and tries again. */
  prepare?(records: readonly StreamRecord[]): Promise<void>;
  /** Must be a function of the record and the stores. An exception is a bug. */
  process(record: StreamRecord): void;
}

/** One source, one processor, its stores and sinks: the smallest topology that is of use, and all that is needed. */
export interface Topology {
  /** The consumer group, and the prefix of the transactional.ids. */
  readonly applicationId: string;
  readonly source: string;
  // Stores of several value types live side by side; each is read back under its own type by store<T>().
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly stores?: Readonly<Record<string, StoreDefinition<any>>>;
  readonly sinks: Readonly<Record<string, SinkDefinition>>;
  readonly processor: (context: ProcessorContext) => Processor;
}

/** Topics that must have exactly as many partitions as the source (G14). */
export const copartitionedTopics = (topology: Topology): string[] => [
  ...Object.values(topology.stores ?? {}).map(({ changelogTopic }) => changelogTopic),
  ...Object.values(topology.sinks)
    .filter(({ partitioner }) => partitioner === 'source-partition')
    .map(({ topic }) => topic),
];
