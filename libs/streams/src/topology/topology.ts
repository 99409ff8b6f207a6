import type { StreamsBackend } from '../backend/backend.js';
import { StreamsError } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import type { ByteRange, RecordHeader, StreamRecord } from '../record.js';
import type { KeyValueStore, ReadOnlyKeyValueStore } from '../state/key-value-store.js';
import type { StoreDefinition } from '../state/state-store.js';
import { type UsedTopic, verifySettings } from './topic-settings.js';

/** Stores of several kinds side by side; context.store() gives each under its own type. */
export type StoreDefinitions = Readonly<Record<string, StoreDefinition<unknown>>>;

export type StoresOf<Definitions extends StoreDefinitions> = {
  readonly [Name in keyof Definitions]: Definitions[Name] extends StoreDefinition<infer Store> ? Store : never;
};

/** Key-value stores: those that can be read from outside of their processor. */
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
export interface ForwardedRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | ByteRange | null;
  readonly headers?: readonly RecordHeader[];
  /** Epoch ms, e.g. that of the input record; the time of the commit unless given. */
  readonly timestamp?: number;
}

/** What a processor sees of the task that it works in. Type parameters: its stores by name, the names of its sinks. */
export interface ProcessorContext<Stores, SinkName extends string> {
  /** Of the records that are processed; of the first source before there were any. */
  readonly topic: string;
  readonly partition: number;
  /** Wall clock, epoch ms; for display, never for a rule about events. */
  now(): number;
  /** Stream time: the largest timestamp of a record until now, the present one included; null: there was none. */
  currentStreamTimeMs(): number | null;
  forward(sink: SinkName, record: ForwardedRecord): void;
  store<Name extends keyof Stores & string>(name: Name): Stores[Name];
}

/** Epoch ms. */
export interface Punctuation {
  /** The largest timestamp of a record of the partition until now, also of earlier tasks; null: there was none. */
  readonly streamTimeMs: number | null;
  readonly wallClockMs: number;
}

interface Punctuated {
  /**
   * Called after each slice of records, and several times a second while none come, to do what time alone makes due.
   * Outputs and changes of stores are part of the transaction of the records before it.
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
  /** They are all of one source. */
  readonly topic: string;
  /** The first slice of its batch: all records of the batch are in the log by now. */
  readonly isFirst: boolean;
  /** Calls `process` with each record. Call it once; throws when the task was closed meanwhile. */
  readonly forEach: (process: (record: StreamRecord) => void) => void;
}

/** A processor that is called once per slice, for callers that have a cost per call. */
export interface SliceProcessor extends Punctuated {
  /**
   * Processes the slice through its forEach(). What the records need may be waited for before that. A rejection
   * rebuilds the task and tries again.
   */
  processSlice(slice: RecordSlice): Promise<void>;
}

/** Its sources, one processor, its state stores and sinks. Made by createTopology(), which checks it. */
export interface Topology<Definitions extends StoreDefinitions = StoreDefinitions, SinkName extends string = string> {
  /** The consumer group, and the prefix of the transactional.ids. */
  readonly applicationId: string;
  /**
   * The topic that is read. One task works on each of its partitions. Or several topics with as many partitions each: a
   * task reads its partition of all of them, in the order of their timestamps as far as the records have arrived.
   */
  readonly source: string | readonly [string, ...string[]];
  readonly stores?: Definitions;
  readonly sinks: Readonly<Record<SinkName, SinkDefinition>>;
  /** Makes the processor of one task, and again whenever the task is rebuilt. */
  processor(context: ProcessorContext<StoresOf<Definitions>, SinkName>): Processor | SliceProcessor;
}

/** For processors in a file of their own. */
export type ContextOf<T extends Topology> = Parameters<T['processor']>[0];

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
function checkTopology({ applicationId, source, stores = {}, sinks }: Omit<Topology, 'processor'>): void {
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

/** The topics that a topology reads. The first gives its name to tasks. */
export function sourcesOf({ source }: Pick<Topology, 'source'>): readonly [string, ...string[]] {
  return typeof source === 'string' ? [source] : source;
}

/** A processor used a name that its topology does not declare. */
export function undeclared(
  kind: 'sink' | 'store',
  name: string,
  applicationId: string,
  declared: readonly string[],
): StreamsError {
  return invalid(
    `The topology ${applicationId} has no ${kind} named ${name}: declare it under "${kind}s", or use one of those declared (${declared.join(', ') || 'none'}).`,
  );
}

export function invalid(message: string): StreamsError {
  return new StreamsError('INVALID_TOPOLOGY', message);
}

/** A topic to create; `configs` are the broker's topic settings by name. */
export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly configs: Readonly<Record<string, string>>;
}

/** For TopicAdmin.createTopics(): changelogs are compacted, and all have as many partitions as the source. */
export function topicsOf(topology: Topology, size: Pick<TopicSpec, 'partitions' | 'replicationFactor'>): TopicSpec[] {
  const isChangelog = new Set(Object.values(topology.stores ?? {}).map(({ changelogTopic }) => changelogTopic));
  return writtenTopics(topology).map(({ topic: name }) => ({
    name,
    ...size,
    configs: isChangelog.has(name) ? { 'cleanup.policy': 'compact' } : {},
  }));
}

interface WrittenTopic {
  readonly topic: string;
  readonly role: string;
  /** A task writes the partition of its own number, so there must be as many as the source has. */
  readonly copartitioned: boolean;
  readonly isChangelog: boolean;
}

/**
 * Checks the topology and all its topics before the first task is built.
 * @returns how many partitions the source has, and the sinks whose records get the time of the broker
 * @throws {StreamsError} INVALID_TOPOLOGY, TOPIC_MISSING, PARTITIONS_DIFFER, TOPIC_SETTINGS: which topic, and the fix
 */
export async function verifyTopics(
  topology: Topology,
  backend: Pick<StreamsBackend, 'partitionCount' | 'topicSettings'>,
  logger: StreamsLogger,
): Promise<{ readonly partitions: number; readonly byAppendTime: Set<string> }> {
  // It may not have come through createTopology().
  checkTopology(topology);
  const { applicationId } = topology;
  const [source] = sourcesOf(topology);
  const expected = await backend.partitionCount(source);
  if (expected === null) {
    throw new StreamsError(
      'TOPIC_MISSING',
      `The topic ${source}, the source of ${applicationId}, does not exist: create it before the application starts.`,
    );
  }
  const used: UsedTopic[] = [];
  for (const { topic, role, copartitioned, isChangelog } of writtenTopics(topology)) {
    const count = await backend.partitionCount(topic);
    const partitions = copartitioned ? ` with ${String(expected)} partitions (as many as ${source} has)` : '';
    if (count === null) {
      throw new StreamsError(
        'TOPIC_MISSING',
        `The topic ${topic}, ${role} of ${applicationId}, does not exist: create it${partitions}${isChangelog ? ' and cleanup.policy=compact' : ''}.`,
      );
    }
    // More partitions for the changelog too would lose the state of the keys that have moved.
    if (isChangelog && count < expected) throw partitionsAdded(source, count, expected);
    if (copartitioned && count !== expected) {
      throw new StreamsError(
        'PARTITIONS_DIFFER',
        `The topic ${topic}, ${role} of ${applicationId}, has ${String(count)} partitions and ${source} has ${String(expected)}: a task writes the partition of its own number, so create ${topic}${partitions}.`,
      );
    }
    used.push({ topic, role: `${role} of ${applicationId}`, use: isChangelog ? 'changelog' : 'output' });
  }
  return { partitions: expected, byAppendTime: await verifySettings(used, { backend, logger }) };
}

export function partitionsAdded(topic: string, before: number, count: number): StreamsError {
  return new StreamsError(
    'PARTITIONS_DIFFER',
    `The topic ${topic} has ${String(count)} partitions now and had ${String(before)}: keys have moved away from their state and their order. Create a topic with the old count, or migrate to new topics and a new group.`,
  );
}

function writtenTopics({ stores = {}, sinks }: Topology): WrittenTopic[] {
  return [
    ...Object.entries(stores).map(([name, { changelogTopic }]) => ({
      topic: changelogTopic,
      role: `the changelog of the store ${name}`,
      copartitioned: true,
      isChangelog: true,
    })),
    ...Object.entries(sinks).map(([name, { topic, partitioner }]) => ({
      topic,
      role: `the sink ${name}`,
      copartitioned: partitioner === 'source-partition',
      isChangelog: false,
    })),
  ];
}
