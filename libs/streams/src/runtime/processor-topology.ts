import { errorMessage, StreamsError } from '../errors.js';
import { partitionForKey } from '../partitioner.js';
import { type RecordBuffer, RecordCollector } from '../protocol/record-collector.js';
import { rangeOf, type StreamRecord, type TopicPartition } from '../record.js';
import type { StateStore } from '../state/state-store.js';
import {
  type ForwardedRecord,
  invalid,
  type Processor,
  type Punctuation,
  type RecordSlice,
  type SliceProcessor,
  type Topology,
  undeclared,
} from '../topology/topology.js';
import { isOfRecord } from './parking.js';

type Context = Parameters<Topology['processor']>[0];

interface ProcessorTopologyOptions {
  readonly topology: Topology;
  readonly partition: TopicPartition;
  /** The partition's stores, if they outlive the task; new ones by default. */
  readonly stores?: ReadonlyMap<string, StateStore> | undefined;
  /** Partition counts of the sink topics that are written by key. */
  readonly partitionCounts: ReadonlyMap<string, number>;
  /** The stream time of an earlier task; null: there was none. */
  readonly streamTimeMs?: number | null;
  readonly onTimestamp?: ((topic: string) => void) | undefined;
  readonly now: () => number;
}

interface BatchSlice extends Omit<RecordSlice, 'forEach'> {
  readonly onBegin?: () => void;
  /** Asked after each record; absent: all are processed. */
  readonly endsEarly?: (processed: number) => boolean;
}

/** A topology at work on one partition, without Kafka, shared by the runtime and the test driver. */
export class ProcessorTopology {
  readonly stores: ReadonlyMap<string, StateStore>;
  outputBytes = 0;
  /** The offset of the current record; still set if process() rejected because the processor threw at it. */
  offset: number | null = null;
  isAtWork = false;
  /** Whether punctuate() has forwarded or changed a store since the last commit. */
  hasPunctuated = false;
  private forwarded = 0;
  private latestTimestamp = -Infinity;
  private isClosed = false;
  private readonly outputs = new RecordCollector();
  private readonly changelogs: readonly (readonly [StateStore | undefined, RecordBuffer])[];
  private readonly expiring: readonly StateStore[];
  private readonly context: Omit<Context, 'topic'> & { topic: string };
  private readonly processor: { punctuate?: (time: Punctuation) => unknown } & (Processor | SliceProcessor);

  constructor(private readonly options: ProcessorTopologyOptions) {
    const { topology, partition } = options;
    const definitions = Object.entries(topology.stores ?? {});
    this.stores = options.stores ?? new Map(definitions.map(([name, { createStore }]) => [name, createStore()]));
    this.expiring = [...this.stores.values()].filter((store) => store.advanceTo !== undefined);
    this.advanceTo(options.streamTimeMs ?? -Infinity);
    this.changelogs = definitions.map(([name, { changelogTopic }]) => [
      this.stores.get(name),
      this.outputs.to(changelogTopic, partition.partition),
    ]);
    this.context = this.newContext();
    this.processor = topology.processor(this.context);
  }

  private newContext(): Context {
    const { partition, now } = this.options;
    return {
      ...partition,
      now,
      currentStreamTimeMs: () => this.streamTimeMs,
      forward: (sink, record) => this.forward(sink, record),
      store: (name) => this.store(name),
    };
  }

  get changed(): boolean {
    return this.changes() > 0;
  }

  get streamTimeMs(): number | null {
    return this.latestTimestamp === -Infinity ? null : this.latestTimestamp;
  }

  private changes(): number {
    return [...this.stores.values()].reduce((changes, { changeCount }) => changes + changeCount, this.forwarded);
  }

  /**
   * Lets the processor work on records of one batch. `onBegin` is called before the first of them, and may throw.
   * @returns how many were processed: the rest is another slice
   */
  async process({ records, topic, isFirst, onBegin, endsEarly }: BatchSlice): Promise<number> {
    const { processor } = this;
    const { applicationId } = this.options.topology;
    this.context.topic = topic;
    let calls = 0;
    let processed = 0;
    const forEach = (process: (record: StreamRecord) => unknown): void => {
      if (calls++ > 0) throw invalid(`${applicationId} processed the same records twice.`);
      this.refuseClosed();
      onBegin?.();
      for (const record of records) {
        this.offset = record.offset;
        if (record.timestamp > this.latestTimestamp) this.advanceTo(record.timestamp);
        const result = process(record);
        if (result !== undefined) refusePromise(result, 'process()', applicationId);
        processed++;
        if (endsEarly?.(processed) === true) break;
      }
      this.offset = null;
    };
    this.offset = null;
    this.isAtWork = true;
    try {
      if ('processSlice' in processor) await processor.processSlice({ records, topic, isFirst, forEach });
      else forEach((record) => processor.process(record));
    } finally {
      this.isAtWork = false;
    }
    if (calls === 0) throw invalid(`${applicationId} left records unprocessed: call forEach() once per slice.`);
    this.punctuate();
    return processed;
  }

  private advanceTo(streamTimeMs: number): void {
    this.latestTimestamp = streamTimeMs;
    for (const store of this.expiring) store.advanceTo?.(streamTimeMs);
  }

  punctuate(): void {
    this.refuseClosed();
    for (const store of this.expiring) store.expire?.();
    if (!this.processor.punctuate) return;
    const before = this.changes();
    this.isAtWork = true;
    try {
      const time = { streamTimeMs: this.streamTimeMs, wallClockMs: this.options.now() };
      refusePromise(this.processor.punctuate(time), 'punctuate()', this.options.topology.applicationId);
      this.hasPunctuated ||= this.changes() > before;
    } catch (error) {
      if (error instanceof StreamsError && !isOfRecord(error)) throw error;
      // No record is named: those before it are innocent, and would be skipped one after the other.
      throw new StreamsError('PUNCTUATION_FAILED', `punctuate() failed: ${errorMessage(error)}`, { cause: error });
    } finally {
      this.isAtWork = false;
    }
  }

  /** Outputs and changelog records since the last commit, in order within each partition. */
  pending(): RecordCollector {
    for (const [store, changelog] of this.changelogs) {
      // Cleared so that calls are repeatable: the test driver reads a transaction more than once.
      changelog.clear();
      store?.writeChanges(changelog);
    }
    return this.outputs;
  }

  commit(): void {
    this.outputs.clear();
    this.forwarded = 0;
    this.hasPunctuated = false;
    this.outputBytes = 0;
    for (const store of this.stores.values()) store.commit();
  }

  /** Cuts the processor off from outputs and stores, which the next owner may already use. */
  close(): void {
    this.isClosed = true;
  }

  private forward(sinkName: string, record: ForwardedRecord): void {
    const { topology, partition, partitionCounts } = this.options;
    const sink = topology.sinks[sinkName];
    if (!sink) throw undeclared('sink', sinkName, topology);
    this.refuseClosed();
    // Records forwarded between the calls would belong to no transaction, or to the wrong one.
    if (!this.isAtWork)
      throw invalid(`${topology.applicationId} forwarded to ${sinkName} while no records were processed.`);
    const target =
      sink.partitioner === 'source-partition' ? partition.partition : byKey(sink.topic, record.key, partitionCounts);
    if (record.timestamp !== undefined) this.options.onTimestamp?.(sink.topic);
    this.outputBytes += this.append(this.outputs.to(sink.topic, target), record);
    this.forwarded++;
  }

  private append(into: RecordBuffer, { key, value, headers, timestamp }: ForwardedRecord): number {
    const { bytes, start, end } = value === null ? NOTHING : rangeOf(value);
    // Each switch between records with and without a time would begin a batch, which costs a request.
    const time = timestamp ?? (into.hasTimestamps ? this.options.now() : undefined);
    into.appendRanges(key, 0, key?.length ?? 0, bytes, start, end, headers, time);
    return end - start;
  }

  private store(name: string): StateStore {
    this.refuseClosed();
    const store = this.stores.get(name);
    if (!store) throw undeclared('store', name, this.options.topology);
    return store;
  }

  private refuseClosed(): void {
    if (this.isClosed) throw new Error('The task was closed while it worked.');
  }
}

/** TypeScript accepts async functions here, but what they do later belongs to no transaction. */
function refusePromise(result: unknown, what: string, applicationId: string): void {
  if (typeof (result as { then?: unknown } | null)?.then !== 'function') return;
  // The outcome does not matter, but an unhandled rejection would end the process.
  void Promise.resolve(result).catch(() => undefined);
  throw invalid(`${what} of ${applicationId} returned a promise: wait in processSlice() before its forEach().`);
}

const NOTHING = { bytes: null, start: 0, end: 0 } as const;

function byKey(topic: string, key: Buffer | null, partitionCounts: ReadonlyMap<string, number>): number {
  const partitions = partitionCounts.get(topic);
  if (partitions === undefined || key === null)
    throw new Error(`A record for ${topic} needs a key to find its partition.`);
  return partitionForKey(key, partitions);
}
