import { setImmediate as nextTurn } from 'node:timers/promises';
import { waitOrAbort } from '../abort.js';
import type { CommittedOffset, StreamsBackend } from '../backend/backend.js';
import { errorMessage, StreamsError, WaitFailed } from '../errors.js';
import { partitionName, type RecordBatch, slicesOf } from '../record.js';
import { type RecordSlice, sourcesOf, type Topology } from '../topology/topology.js';
import { LeaderEpochs } from './leader-epochs.js';
import { untilNextTurn } from './linger.js';
import { isOfRecord } from './parking.js';
import type { OpenedTask, PartitionTask, TaskContext } from './partition-task.js';
import { entriesWithout, positionEntry, valueIn } from './position-metadata.js';
import { ProcessorTopology } from './processor-topology.js';
import type { StateManager } from './state-directory.js';
import type { StreamsProducer, TaskProducer } from './streams-producer.js';

const SLICE_RECORDS = 1_000;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
/** Heartbeats and timers wait for no more than this per busy partition, and for the records of one look at the clock. */
const MAX_TURN_MS = 50;
/** A look at the clock costs a hundredth of a cheap record. */
const RECORDS_PER_LOOK = 16;
/** In place of a writer: nothing of it can follow. */
const RELEASED = '';
/** Also limits input without output: a restart must not go back far. */
const COMMIT_AT_LEAST_EVERY_MS = 1_000;

interface StreamTaskOptions {
  readonly topology: Topology;
  readonly context: TaskContext;
  readonly stores: StateManager;
  readonly backend: StreamsBackend;
  readonly producer: StreamsProducer;
  readonly commitIntervalMs: number;
  /** The longest wait from a small commit to the next fetch. */
  readonly lingerMs: number;
  readonly onTimestamp?: (topic: string) => void;
  readonly now: () => number;
}

/**
 * A topology on one input partition, exactly once: outputs, changelog and input position go into one transaction.
 * open() fences the predecessor before it reads the position and the changelog, so both are final when read.
 */
export class StreamTask implements PartitionTask {
  private core: ProcessorTopology | null = null;
  private producer: TaskProducer | null = null;
  private positions: ReadonlyMap<string, number> = new Map();
  /** The positions of the last commit; null: not all sources have one. */
  private committed: ReadonlyMap<string, number> | null = null;
  /** Sources whose log continues after the processed part. */
  private readonly behind = new Set<string>();
  private committedAt = 0;
  private hasCommitted = false;
  private uncommittedSince: number | null = null;
  /** Work that continues after it must not touch the stores: the next task may already use them. */
  private readonly closed = new AbortController();
  private readonly released = new AbortController();
  private stallEnds: () => void = () => undefined;
  private readonly epochs: LeaderEpochs;

  constructor(private readonly options: StreamTaskOptions) {
    const { backend, context } = options;
    this.epochs = new LeaderEpochs(backend, context.partition);
  }

  async open(): Promise<OpenedTask> {
    const { topology, context, stores, backend, onTimestamp, now } = this.options;
    const { topic, partition } = context;
    const producer = await this.options.producer.open(partition);
    this.producer = producer;
    const offsets = await this.fencePredecessors();
    // A commit covers all sources: one without an offset was added to the topology later.
    const committed = offsets[0]?.[1] ?? null;
    const partitionCounts = await this.sinkPartitions();
    await stores.open(this.closed.signal);
    stores.refuseLost(committed, topology, context);
    for (const [source, offset] of offsets) if (offset) await this.epochs.resume(source, offset);
    const time = valueIn(committed?.metadata ?? '', 'time');
    this.core = new ProcessorTopology({
      topology,
      stores: stores.byName,
      partition: { topic, partition },
      partitionCounts,
      streamTimeMs: time === undefined ? null : Number(time),
      onTimestamp,
      now,
    });
    // idle() commits it: a store that time alone changes must have a position too.
    const starts = offsets.map(async ([source, found]) => {
      const offset = found?.offset ?? (await backend.startOffset({ topic: source, partition }));
      return [source, offset] as const;
    });
    this.positions = new Map(await Promise.all(starts));
    this.committed = offsets.some(([, found]) => !found) ? null : this.positions;
    this.committedAt = now();
    for (const [source, found] of offsets) {
      this.closed.signal.throwIfAborted();
      const entries = entriesWithout(found?.metadata ?? '', 'writer');
      entries.push(positionEntry('writer', producer.transactionalId));
      await context.commitOffset(this.positions.get(source) ?? 0, entries.join(), source, 'confirmed');
    }
    return { position: this.positions.get(topic) ?? 0, others: this.positions };
  }

  /**
   * Before a task writes, it commits the transactional.id of its process with the position; with its last commit it
   * takes it back. So an id that is found there is that of a process that is dead, or does not know that it has lost
   * the partition. The commit is refused if there was a rebalance since ownership was confirmed here: another owner may
   * have come and gone.
   * @returns positions that only this task can change from now on
   */
  private async fencePredecessors(): Promise<CommittedOffsets> {
    const { topology, context, producer } = this.options;
    const before = await this.committedOffsets();
    // An id that is read before this is no rightful owner's.
    await context.confirmOwnership();
    // Earlier versions used an id for each partition, and left no name.
    const unnamed = `${topology.applicationId}.${String(context.partition)}`;
    const writersOf = (offsets: CommittedOffsets): string[] =>
      offsets.map(([, found]) => valueIn(found?.metadata ?? '', 'writer') ?? unnamed);
    const fenced = new Set(writersOf(before).filter((writer) => writer !== RELEASED));
    await Promise.all([...fenced].map((writer) => producer.fence(writer)));
    const offsets = await this.committedOffsets({ stable: true });
    if (writersOf(offsets).every((writer) => writer === RELEASED || fenced.has(writer))) return offsets;
    throw new Error('The partition had another owner between the first read of its position and the confirmation.');
  }

  private committedOffsets(options?: { readonly stable: boolean }): Promise<CommittedOffsets> {
    const { topology, context } = this.options;
    const read = async (source: string) => [source, await context.committedOffset(source, options)] as const;
    return Promise.all(sourcesOf(topology).map(read));
  }

  private moved(batch: RecordBatch, position: number): ReadonlyMap<string, number> {
    return new Map(this.positions).set(batch.topic, position);
  }

  /**
   * Works in slices, so that heartbeats and timers continue and transactions stay bounded. In a backlog, the end of a
   * batch is no reason to commit: the next batch is already on its way, and no reader waits for part of a backlog. The
   * first commit of a task is an exception: if a later batch keeps failing, the position is as far as possible.
   */
  async process(batch: RecordBatch): Promise<void> {
    const core = this.core;
    if (!core) throw new Error('process() was called before open().');
    if (this.epochs.changesWith(batch)) {
      await this.epochs.advance(batch, this.positions.get(batch.topic) ?? 0);
      this.closed.signal.throwIfAborted();
    }
    const isSmall = await this.processSlices(core, batch);
    // Forwarded and stored values are copies.
    batch.release?.();
    this.positions = this.moved(batch, batch.nextOffset);
    if (batch.nextOffset < batch.lastStableOffset) this.behind.add(batch.topic);
    else this.behind.delete(batch.topic);
    if (this.isToCommit(core)) {
      await this.commit(core, this.positions);
      await this.waitForMore(isSmall);
    }
    if (core.changed) return;
    this.uncommittedSince = null;
    this.options.stores.between();
  }

  /** A record of one source next to the backlog of another is part of a backlog. */
  private get isCaughtUp(): boolean {
    return this.behind.size === 0;
  }

  private isToCommit(core: ProcessorTopology): boolean {
    if (!core.changed) return this.isOver(this.committedAt, COMMIT_AT_LEAST_EVERY_MS);
    return this.isCaughtUp || !this.hasCommitted || this.isDue(core);
  }

  /** Call after a commit: the next fetch will include records that arrive in the meantime, in one transaction. */
  private async waitForMore(isSmall: boolean): Promise<void> {
    const { lingerMs, now } = this.options;
    // With several sources, batches are short even in a backlog.
    const isBacklog = this.positions.size > 1 && !this.isCaughtUp;
    if (isSmall && !isBacklog) await waitOrAbort(untilNextTurn(now(), lingerMs), this.released.signal);
  }

  /** @returns whether it was a single slice */
  private async processSlices(core: ProcessorTopology, batch: RecordBatch): Promise<boolean> {
    let calls = 0;
    let position = 0;
    for (const slice of slicesOf(batch, SLICE_RECORDS)) {
      for (let left = slice; left.length > 0;) {
        if (calls > 0) await this.betweenSlices(core, this.moved(batch, position));
        const processed = await this.processSlice(core, { records: left, topic: batch.topic, isFirst: calls === 0 });
        this.closed.signal.throwIfAborted();
        position = (left[processed - 1]?.offset ?? batch.nextOffset - 1) + 1;
        left = left.slice(processed);
        calls++;
      }
    }
    return calls <= 1;
  }

  private async betweenSlices(core: ProcessorTopology, positions: ReadonlyMap<string, number>): Promise<void> {
    if (this.isDue(core)) {
      await this.commit(core, positions);
      this.options.stores.between();
    }
    await nextTurn();
  }

  /**
   * A processor is a function of its record and its stores: if it throws once, it throws again. Waits before the
   * records may succeed later.
   */
  private async processSlice(core: ProcessorTopology, slice: Omit<RecordSlice, 'forEach'>): Promise<number> {
    const { backend, context, now } = this.options;
    let calls = 0;
    let begunAt = 0;
    this.stallEnds = backend.stalls.begin('processor', partitionName(context), 'processSlice() waits for something.');
    const onBegin = (): void => {
      calls++;
      this.stallEnds();
      begunAt = now();
      this.uncommittedSince ??= begunAt;
    };
    const endsEarly = (processed: number): boolean =>
      core.outputBytes > MAX_OUTPUT_BYTES || (processed % RECORDS_PER_LOOK === 0 && this.isOver(begunAt, MAX_TURN_MS));
    try {
      return await core.process({ ...slice, onBegin, endsEarly });
    } catch (error) {
      const { offset } = core;
      if (calls === 0) throw WaitFailed.of('processSlice()', error);
      if (this.closed.signal.aborted || offset === null) throw error;
      const code = error instanceof StreamsError ? error.code : 'PROCESSING_FAILED';
      throw new StreamsError(code, errorMessage(error), { cause: error, offset });
    } finally {
      this.stallEnds();
    }
  }

  /** A batch that changed nothing waits for others: a replay would change nothing either. */
  async idle(): Promise<void> {
    const core = this.core;
    if (!core) return;
    core.punctuate();
    if (core.changed || this.positions !== this.committed) await this.commit(core, this.positions);
    this.options.stores.between();
  }

  async suspend(): Promise<void> {
    if (!this.core) return;
    await this.commit(this.core, this.positions, RELEASED);
    // The next owner would not see the commit yet, and would fence this process.
    await this.committedOffsets({ stable: true });
  }

  /** Not called before a rebuild, which the stores outlive. */
  revoke(): void {
    this.released.abort();
    this.options.stores.release();
  }

  async close(): Promise<void> {
    this.closed.abort(new Error('The task was closed while it worked.'));
    this.core?.close();
    this.stallEnds();
    // The processor is still waiting for something, and may write into the stores later.
    if (this.core?.isAtWork) this.options.stores.abandon();
    this.producer?.close();
    await this.options.stores.suspend();
  }

  private isDue(core: ProcessorTopology): boolean {
    if (core.outputBytes > MAX_OUTPUT_BYTES) return true;
    const { uncommittedSince } = this;
    return core.changed && uncommittedSince !== null && this.isOver(uncommittedSince, this.options.commitIntervalMs);
  }

  /** Also true if the clock was set back: the time that passed is then unknown. */
  private isOver(since: number, ms: number): boolean {
    const passedMs = this.options.now() - since;
    return passedMs > ms || passedMs < 0;
  }

  private async commit(
    core: ProcessorTopology,
    positions: ReadonlyMap<string, number>,
    writer = this.producer?.transactionalId ?? RELEASED,
  ): Promise<void> {
    const { topology, context, now } = this.options;
    const entries = [...this.options.stores.entries(), positionEntry('writer', writer)];
    // Otherwise the stream time would begin again with the next task.
    if (core.streamTimeMs !== null) entries.push(positionEntry('time', core.streamTimeMs));
    const own = { groupId: topology.applicationId, partition: context.partition };
    const offsets = [...positions].map(([topic, offset]) => {
      const metadata = [...entries, ...this.epochs.entries(topic)].join();
      return { ...own, topic, offset, metadata };
    });
    const outcome = await this.producer?.commit({ records: core.pending(), offsets }).catch((error: unknown) => {
      throw core.hasPunctuated ? ofPunctuation(error) : error;
    });
    this.closed.signal.throwIfAborted();
    if (outcome) this.options.stores.committed(outcome);
    core.commit();
    this.uncommittedSince = null;
    this.hasCommitted = true;
    this.committed = positions;
    this.committedAt = now();
  }

  private async sinkPartitions(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const { topic, partitioner } of Object.values(this.options.topology.sinks)) {
      if (partitioner !== 'key') continue;
      const count = await this.options.backend.partitionCount(topic);
      if (count === null) throw new StreamsError('TOPIC_MISSING', `The topic ${topic} does not exist: create it.`);
      counts.set(topic, count);
    }
    return counts;
  }
}

type CommittedOffsets = readonly (readonly [source: string, found: CommittedOffset | null])[];

/** The broker does not say which output it refuses, a record's or punctuate()'s. No record is blamed then. */
function ofPunctuation(error: unknown): unknown {
  if (!(error instanceof StreamsError) || !isOfRecord(error)) return error;
  const message = `A transaction with output of punctuate() failed: ${error.message}`;
  return new StreamsError('PUNCTUATION_FAILED', message, { cause: error });
}
