import { type OutgoingRecord, type RecordContent, StreamRecord } from '../record.js';
import { ProcessorTopology } from '../runtime/processor-topology.js';
import type { StateStore } from '../state/state-store.js';
import { sourcesOf, type StoreDefinitions, type StoresOf, type Topology, undeclared } from '../topology/topology.js';

/**
 * One task of a topology, run by hand: no broker, no waiting. What was committed is kept as
 * the topics would keep it, so that a restart can be tried.
 */
export interface TopologyTestDriver<
  Definitions extends StoreDefinitions = StoreDefinitions,
  SinkName extends string = string,
> {
  /** Processes one record. Returns what it wrote to the sinks. After an exception everything is as after rollback(). */
  pipe(record: PipedRecord): Promise<OutgoingRecord[]>;
  /**
   * Processes records of one source as one fetched batch, in one call of a slice processor. Returns what they wrote to
   * the sinks.
   */
  pipeSlice(records: readonly PipedRecord[]): Promise<OutgoingRecord[]>;
  /** Lets time pass without a record. Returns what the processor wrote to the sinks for it. */
  punctuate(wallClockMs: number): OutgoingRecord[];
  /** What was committed to a sink since the last call for it. */
  readOutput(sink: SinkName): OutgoingRecord[];
  /** Everything that was committed so far, changelogs included. */
  written(): readonly OutgoingRecord[];
  /** A store as the processor sees it now. Ask again after a restart: the task has another then. */
  store<Name extends keyof Definitions & string>(name: Name): StoresOf<Definitions>[Name];
  /** Ends the transaction, where `autoCommit` is false. */
  commit(): void;
  /** The transaction fails: the task is built again as of the last commit. The runtime would read the input again. */
  rollback(): void;
  /** The process is killed and another starts: what was not committed is lost, the stores come from the changelogs. */
  restart(): Promise<void>;
}

/** Without a timestamp it has that of the driver's clock. */
export interface PipedRecord extends RecordContent {
  /** The source that it comes from; the first unless given. */
  readonly topic?: string | undefined;
}

export interface TestDriverOptions<Definitions extends StoreDefinitions, SinkName extends string> {
  readonly topology: Topology<Definitions, SinkName>;
  /** The partition of the task; 0 unless given. */
  readonly partition?: number | undefined;
  /** Partitions of the topics that are written by key; 1 unless given. */
  readonly partitionCounts?: Readonly<Record<string, number>> | undefined;
  /** Where the driver's clock stands, epoch ms. */
  readonly startAt?: number | undefined;
  /** false: a transaction goes on until commit() or rollback(). Otherwise each record is one. */
  readonly autoCommit?: boolean | undefined;
}

export function createTopologyTestDriver<Definitions extends StoreDefinitions, SinkName extends string>(
  options: TestDriverOptions<Definitions, SinkName>,
): TopologyTestDriver<Definitions, SinkName> {
  return new HandDrivenTask(options);
}

class HandDrivenTask<Definitions extends StoreDefinitions, SinkName extends string> implements TopologyTestDriver<
  Definitions,
  SinkName
> {
  private core: ProcessorTopology;
  private now: number;
  private offset = 0;
  private readonly committed: OutgoingRecord[] = [];
  private committedOffset = 0;
  private committedTimeMs: number | null = null;
  private readonly readUpTo = new Map<SinkName, number>();
  private readonly sinkTopics: ReadonlySet<string>;

  constructor(private readonly options: TestDriverOptions<Definitions, SinkName>) {
    this.now = options.startAt ?? 0;
    const sinks: Topology['sinks'] = options.topology.sinks;
    this.sinkTopics = new Set(Object.values(sinks).map(({ topic }) => topic));
    this.core = this.build();
  }

  pipe(record: PipedRecord): Promise<OutgoingRecord[]> {
    return this.pipeSlice([record]);
  }

  async pipeSlice(piped: readonly PipedRecord[]): Promise<OutgoingRecord[]> {
    const topic = this.sourceOf(piped);
    const records = piped.map(({ timestamp = this.now, ...record }) =>
      StreamRecord.of({ ...record, offset: this.offset++, timestamp }),
    );
    const before = this.pendingOutput().length;
    await this.core.process({ records, topic, isFirst: true }).catch((error: unknown) => this.fail(error));
    const output = this.outputSince(before);
    // As the runtime uses the memory of a batch again: a processor or a store that kept a view of it is found out.
    for (const record of records) record.bytes.fill(0xff);
    return output;
  }

  private sourceOf(piped: readonly PipedRecord[]): string {
    const [first] = sourcesOf(this.options.topology);
    const topics = new Set(piped.map(({ topic = first }) => topic));
    const [topic = first] = topics;
    if (topics.size > 1 || !sourcesOf(this.options.topology).includes(topic))
      throw new Error(
        `${[...topics].join(' and ')}: a slice is of one source of ${this.options.topology.applicationId}.`,
      );
    return topic;
  }

  punctuate(wallClockMs: number): OutgoingRecord[] {
    this.now = wallClockMs;
    const before = this.pendingOutput().length;
    try {
      this.core.punctuate();
    } catch (error) {
      this.fail(error);
    }
    return this.outputSince(before);
  }

  readOutput(sink: SinkName): OutgoingRecord[] {
    const { sinks }: Topology = this.options.topology;
    const definition = sinks[sink];
    if (!definition) throw undeclared('sink', sink, this.options.topology);
    const all = this.committed.filter(({ topic }) => topic === definition.topic);
    const unread = all.slice(this.readUpTo.get(sink));
    this.readUpTo.set(sink, all.length);
    return unread;
  }

  written(): readonly OutgoingRecord[] {
    return this.committed;
  }

  store<Name extends keyof Definitions & string>(name: Name): StoresOf<Definitions>[Name] {
    const store = this.core.stores.get(name);
    if (!store) throw undeclared('store', name, this.options.topology);
    return store as unknown as StoresOf<Definitions>[Name];
  }

  commit(): void {
    this.committed.push(...this.core.pending());
    this.core.commit();
    this.committedOffset = this.offset;
    this.committedTimeMs = this.core.streamTimeMs;
  }

  rollback(): void {
    for (const store of this.core.stores.values()) store.rollback();
    this.rebuild(this.core.stores);
  }

  async restart(): Promise<void> {
    const stores = new Map<string, StateStore>();
    const definitions: Topology['stores'] = this.options.topology.stores;
    for (const [name, { changelogTopic, prepare, createStore }] of Object.entries(definitions ?? {})) {
      const store = createStore();
      const records = this.committed
        .filter(({ topic }) => topic === changelogTopic)
        .map(({ key, value }, offset) => StreamRecord.of({ offset, timestamp: this.now, key, value }));
      await prepare?.(records);
      for (const record of records) store.restore(record);
      stores.set(name, store);
    }
    this.rebuild(stores);
  }

  /** As in the runtime, a transaction that has failed leaves nothing. */
  private fail(error: unknown): never {
    this.rollback();
    throw error;
  }

  private rebuild(stores: ReadonlyMap<string, StateStore>): void {
    this.offset = this.committedOffset;
    this.core = this.build(stores);
  }

  /** Commits a step of the transaction unless the test does, and returns what it wrote to the sinks. */
  private outputSince(before: number): OutgoingRecord[] {
    const output = this.pendingOutput().slice(before);
    if (this.options.autoCommit ?? true) this.commit();
    return output;
  }

  private pendingOutput(): OutgoingRecord[] {
    return [...this.core.pending()].filter(({ topic }) => this.sinkTopics.has(topic));
  }

  private build(stores?: ReadonlyMap<string, StateStore>): ProcessorTopology {
    const { topology, partition = 0, partitionCounts = {} } = this.options;
    const sinks: Topology['sinks'] = topology.sinks;
    return new ProcessorTopology({
      topology,
      partition: { topic: sourcesOf(topology)[0], partition },
      partitionCounts: new Map(Object.values(sinks).map(({ topic }) => [topic, partitionCounts[topic] ?? 1])),
      streamTimeMs: this.committedTimeMs,
      now: () => this.now,
      stores,
    });
  }
}
