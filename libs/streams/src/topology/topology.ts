import { StreamsError } from '../errors.js';
import type { ByteRange, RecordContent, StreamRecord } from '../record.js';
import type { KeyValueStore } from '../state/key-value-store.js';
import type { ReadOnlyKeyValueStore, StoreDefinition } from '../state/state-store.js';

/** Stores of several kinds side by side; context.store() gives each under its own type. */
export type StoreDefinitions = Readonly<Record<string, StoreDefinition<unknown>>>;

export type StoresOf<Definitions extends StoreDefinitions> = {
  readonly [Name in keyof Definitions]: Definitions[Name] extends StoreDefinition<infer Store> ? Store : never;
};

/** Key-value stores, which can be read from outside their processor. */
export type ReadOnlyStoreNames<Definitions extends StoreDefinitions> = {
  [Name in keyof Definitions]: Definitions[Name] extends StoreDefinition<KeyValueStore<unknown>> ? Name : never;
}[keyof Definitions] &
  string;

export type ReadOnlyStoreOf<Definition> =
  Definition extends StoreDefinition<KeyValueStore<infer Value>> ? ReadOnlyKeyValueStore<Value> : never;

/** The stores of a topology without any: asking for one is an error of types. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type
export type NoStores = Readonly<Record<never, never>>;

/**
 * Where a processor's output goes. `source-partition`: the partition of the input record, so each output partition has
 * one writer and keeps the input's order. `key`: by the key's hash, as every Kafka client does it; several writers.
 */
export interface SinkDefinition {
  readonly topic: string;
  readonly partitioner: 'source-partition' | 'key';
}

/** A value that is a part of a buffer is copied before forward() returns. */
export type ForwardedRecord = RecordContent<Buffer | ByteRange | null>;

/** What a processor sees of its task. Type parameters: its stores by name, the names of its sinks. */
export interface ProcessorContext<Stores, SinkName extends string> {
  /** The topic of the current records; before any, that of the first source. */
  readonly topic: string;
  readonly partition: number;
  /** Wall clock, epoch ms; for display, never for a rule about events. */
  now(): number;
  /** Stream time: the largest timestamp of a record so far, the current one included; null: none yet. */
  currentStreamTimeMs(): number | null;
  forward(sink: SinkName, record: ForwardedRecord): void;
  store<Name extends keyof Stores & string>(name: Name): Stores[Name];
}

/** Epoch ms. */
export interface Punctuation {
  /** The largest timestamp of a record of the partition so far, including earlier tasks; null: none yet. */
  readonly streamTimeMs: number | null;
  readonly wallClockMs: number;
}

interface Punctuated {
  /**
   * Called after each slice of records, and several times a second while none come, for work that is due by time.
   * Outputs and store changes join the transaction of the records before it.
   */
  punctuate?(time: Punctuation): void;
}

export interface Processor extends Punctuated {
  /** Must be a function of the record and the stores. An exception is a bug. */
  process(record: StreamRecord): void;
}

/** Up to 1,000 records of one fetched batch, in the order of the log. */
export interface RecordSlice {
  readonly records: readonly StreamRecord[];
  /** The one source of these records. */
  readonly topic: string;
  /** Whether this is the first slice of its batch: all records of the batch are in the log by now. */
  readonly isFirst: boolean;
  /**
   * Calls `process` with each record, until the transaction is full or other work waits: the rest comes as another slice.
   * Call it once; throws if the task was closed in the meantime.
   */
  readonly forEach: (process: (record: StreamRecord) => void) => void;
}

/** A processor that is called once per slice, for callers that have a cost per call. */
export interface SliceProcessor extends Punctuated {
  /**
   * Processes the slice through its forEach(), after any wait for what the records need. A rejection rebuilds the task
   * and tries again.
   */
  processSlice(slice: RecordSlice): Promise<void>;
}

/** Sources, one processor, its state stores and sinks. Create it with createTopology(), which checks it. */
export interface Topology<Definitions extends StoreDefinitions = StoreDefinitions, SinkName extends string = string> {
  /** The consumer group, and the prefix of the transactional.ids. */
  readonly applicationId: string;
  /**
   * The topic that is read. One task works on each of its partitions. Or several topics with as many partitions each: a
   * task reads its partition of all of them, in the order of their timestamps as far as the records have arrived.
   */
  readonly source: string | readonly [string, ...string[]];
  readonly stores?: Definitions | undefined;
  readonly sinks: Readonly<Record<SinkName, SinkDefinition>>;
  /** Creates the processor of one task, and again whenever the task is rebuilt. */
  processor(context: ProcessorContext<StoresOf<Definitions>, SinkName>): Processor | SliceProcessor;
}

/**
 * A topology with the types of its stores and the names of its sinks inferred.
 * @throws {StreamsError} INVALID_TOPOLOGY: the contradiction and its fix
 */
export function createTopology<Definitions extends StoreDefinitions = NoStores, SinkName extends string = never>(
  definition: Topology<Definitions, SinkName>,
): Topology<Definitions, SinkName> {
  checkTopology(definition);
  return definition;
}

/** @throws {StreamsError} INVALID_TOPOLOGY: the contradiction and its fix */
export function checkTopology({ applicationId, source, stores = {}, sinks }: Omit<Topology, 'processor'>): void {
  if (applicationId === '') throw invalid('A topology needs an applicationId: it names its consumer group.');
  const sources = sourcesOf({ source });
  if (sources.includes('') || sources.length === 0)
    throw invalid(`The topology ${applicationId} needs a source: the name of the topic to read.`);
  const users = new Map(sources.map((topic) => [topic, 'the source']));
  if (users.size < sources.length) throw invalid(`The topology ${applicationId} has a source twice.`);
  for (const [name, { topic }] of Object.entries(sinks)) {
    if (topic === '') throw invalid(`The sink ${name} of ${applicationId} needs a topic.`);
    users.set(topic, `the sink ${name}`);
  }
  for (const [name, { changelogTopic }] of Object.entries(stores)) {
    // The metadata of a commit lists stores, each with the id of its topic.
    if (/[,@]/.test(name)) throw invalid(`The store ${name} of ${applicationId} has a comma or @ in its name.`);
    if (changelogTopic === '') throw invalid(`The store ${name} of ${applicationId} needs a changelogTopic.`);
    const user = users.get(changelogTopic);
    if (user !== undefined) {
      throw invalid(
        `The topic ${changelogTopic} is the changelog of the store ${name} and used by ${user} of ${applicationId}: give the store a topic of its own, or its restore would read what is not its own.`,
      );
    }
    users.set(changelogTopic, `the store ${name}`);
  }
}

/** The topics that a topology reads. The first names the tasks. */
export function sourcesOf({ source }: Pick<Topology, 'source'>): readonly [string, ...string[]] {
  return typeof source === 'string' ? [source] : source;
}

/** The error if a processor uses a name that its topology does not declare. */
export function undeclared(kind: 'sink' | 'store', name: string, topology: Omit<Topology, 'processor'>): StreamsError {
  const declared = Object.keys(topology[`${kind}s`] ?? {});
  return invalid(
    `The topology ${topology.applicationId} has no ${kind} named ${name}: declare it under "${kind}s", or use one of those declared (${declared.join(', ') || 'none'}).`,
  );
}

export function invalid(message: string): StreamsError {
  return new StreamsError('INVALID_TOPOLOGY', message);
}
