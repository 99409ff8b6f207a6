import { setImmediate as nextTurn } from 'node:timers/promises';
import { settleOrAbort } from '../abort.js';
import { type LogRange, logRange, readUpTo } from '../backend/log-reader.js';
import { WaitFailed } from '../errors.js';
import { partitionName, type RecordBatch, slicesOf, type StreamRecord, type TopicPartition } from '../record.js';
import type { StateStore, StoreDefinition } from '../state/state-store.js';
import { type CompleteState, type StateOptions, StoreCheckpoints } from './store-checkpoints.js';
import type { TaskCommit } from './streams-producer.js';

/** A restore yields to other tasks after this many records. */
const SLICE_RECORDS = 2_000;
/** Brokers keep tombstones for delete.retention.ms (default 24 h). An older state may miss some, and is not used. */
const MAX_AGE_MS = 20 * 3_600_000;
const LOG_EVERY_MS = 3_000;
/** Separates the name of a store from the topic id of its changelog. */
const OF_TOPIC = '@';

/**
 * A store and its position in its changelog: every change before that position is in the store. It outlives the tasks
 * that use it, so a rebuilt task reads the changelog only from there, and finds out whether a commit with an unknown
 * outcome happened.
 */
export class ChangelogStore {
  readonly store: StateStore;
  readonly changelog: TopicPartition;
  hasHistory = false;
  /** Changelog offsets that a restore still has to read; 0 if none is running. */
  remaining = 0;
  private readonly checkpoints: StoreCheckpoints | null;
  private complete: CompleteState | null = null;
  /** The position is beyond changelog records that the store does not have. */
  private isDistrusted = false;
  private warned = false;

  constructor(
    readonly name: string,
    private readonly definition: StoreDefinition<unknown>,
    partition: number,
    private readonly options: StateOptions,
  ) {
    const { stateDir } = options;
    this.store = definition.createStore();
    this.changelog = { topic: definition.changelogTopic, partition };
    const of = { name, store: this.store, changelog: this.changelog, prepare: definition.prepare };
    this.checkpoints = stateDir === undefined ? null : new StoreCheckpoints(of, stateDir, options);
  }

  /** Whether the changelog has records, or gets some by the next commit. True stays true: compaction keeps the end. */
  get isWritten(): boolean {
    return (this.complete?.position ?? 0) > 0 || this.store.changeCount > 0;
  }

  /** Differs for a changelog that was deleted and recreated; null: the cluster has no topic ids. */
  get mark(): string | null {
    const topicId = this.complete?.topicId ?? null;
    return topicId === null ? null : `${this.name}${OF_TOPIC}${topicId}`;
  }

  /** Whether a commit's metadata needs state that the changelog lacks: it is empty, or another topic of that name. */
  isLost(metadata: string): boolean {
    const { name, mark } = this;
    const entries = metadata.split(',');
    if (!this.isWritten) return entries.includes(name);
    return mark !== null && entries.some((entry) => entry.startsWith(`${name}${OF_TOPIC}`) && entry !== mark);
  }

  /**
   * Restores the current content of the changelog. The predecessor must be fenced, so that the end is final.
   * @param closed aborted when the task is closed: the store must not be touched then, since another may already use it
   */
  async open(closed: AbortSignal): Promise<void> {
    const { changelog } = this;
    const { backend, logger, now } = this.options;
    const startedAt = now();
    const [range, topicId] = await Promise.all([logRange(backend, changelog), backend.topicId(changelog.topic)]);
    closed.throwIfAborted();
    const { from, state } = await this.start(range, { topicId, asOf: startedAt }, closed);
    const { position, records } = await this.readTo(range.end, state, closed);
    closed.throwIfAborted();
    this.isDistrusted = false;
    this.complete = { position, topicId, asOf: startedAt };
    this.hasHistory ||= this.store.size > 0 || records > 0;
    logger.info('store_restored', {
      store: this.name,
      changelog: partitionName(changelog),
      keys: this.store.size,
      records,
      durationMs: now() - startedAt,
      from,
    });
  }

  /** Call after a commit and before any rollback: the records are in the changelog from the base offset on. */
  committed({ baseOffsets, isRepeated }: TaskCommit): void {
    const { complete } = this;
    const base = baseOffsets.get(partitionName(this.changelog));
    if (!complete || base === undefined) return;
    // The next open() checks whether it is another topic. If it is not, its position would leave out these records.
    if (base < complete.position) {
      this.isDistrusted = true;
      throw new Error(
        `The changelog ${partitionName(this.changelog)} continues at ${String(base)}, before the position ${String(complete.position)} of the store ${this.name}: it was deleted, or has lost records.`,
      );
    }
    // Only the marker of the last transaction may lie between the last known position and the new records, or an aborted
    // attempt. Other records came from another writer: the position stays before them, and the next open() reads them.
    if (base > complete.position + 1 && !isRepeated) {
      this.warnOfOthers(complete.position, base);
      return;
    }
    this.complete = { ...complete, position: base + this.store.changeCount, asOf: this.options.now() };
    // Together with its position: if another store throws, the task rolls back whatever is not committed yet.
    this.store.commit();
  }

  between(): void {
    if (this.complete && this.store.changeCount === 0) this.checkpoints?.step(this.complete);
  }

  /** Returns the store to the last commit that is known to have happened. */
  async suspend(): Promise<void> {
    this.store.rollback();
    await this.checkpoints?.abort();
  }

  /** Writes a last checkpoint of the committed state, once no task uses the store. */
  async retire(): Promise<void> {
    this.store.rollback();
    if (this.complete && !this.isDistrusted) await this.checkpoints?.finish(this.complete);
  }

  private async start(
    range: LogRange,
    known: Omit<CompleteState, 'position'>,
    closed: AbortSignal,
  ): Promise<{ readonly from: 'memory' | 'checkpoint' | 'changelog'; readonly state: CompleteState }> {
    const { complete } = this;
    if (complete && this.refusal(complete, range, known.topicId) === null) return { from: 'memory', state: complete };
    this.forget();
    const checkpoint = await this.checkpoints?.load((state) => this.refusal(state, range, known.topicId), closed);
    closed.throwIfAborted();
    if (checkpoint) return { from: 'checkpoint', state: (this.complete = checkpoint) };
    this.forget();
    return { from: 'changelog', state: (this.complete = { ...known, position: range.start }) };
  }

  private forget(): void {
    this.complete = null;
    this.hasHistory = false;
    this.store.clear();
  }

  private refusal(state: CompleteState, { start, end }: LogRange, topicId: string | null): string | null {
    if (state.topicId !== topicId) return 'the changelog is another topic of the same name';
    if (this.isDistrusted) return 'the changelog has lost records before its position';
    if (state.position < start) return 'the changelog begins after its position';
    if (state.position > end) return 'the changelog ends before its position';
    return this.options.now() - state.asOf > MAX_AGE_MS ? 'it is too old' : null;
  }

  /** The state dates from the start of the reading until the end is reached: tombstones may vanish during it. */
  private async readTo(
    end: number,
    state: CompleteState,
    closed: AbortSignal,
  ): Promise<{ readonly position: number; readonly records: number }> {
    const { store } = this;
    const { position: from } = state;
    if (from >= end) return { position: from, records: 0 };
    const fetcher = this.options.backend.fetcher();
    const tell = this.progressLog(from, end);
    const keysBefore = store.size;
    let records = 0;
    this.remaining = end - from;
    try {
      const reading = readUpTo(fetcher, this.changelog, from, end, async (batch) => {
        const taken = await this.take(batch, closed);
        const { nextOffset } = batch;
        // Extrapolates from the share of new keys in the first batch.
        if (records === 0)
          store.expect?.(keysBefore + Math.round(((store.size - keysBefore) * (end - from)) / (nextOffset - from)));
        records += taken;
        this.complete = { ...state, position: nextOffset };
        this.remaining = end - nextOffset;
        tell(nextOffset);
      });
      // Otherwise a blocked read or a waiting prepare() would keep the fetcher forever.
      return { position: await settleOrAbort(reading, closed), records };
    } finally {
      this.remaining = 0;
      await fetcher.close();
    }
  }

  private async take(batch: RecordBatch, closed: AbortSignal): Promise<number> {
    let taken = 0;
    for (const slice of slicesOf(batch, SLICE_RECORDS)) {
      await this.prepare(slice);
      closed.throwIfAborted();
      for (const record of slice) this.store.restore(record);
      taken += slice.length;
      await nextTurn();
    }
    closed.throwIfAborted();
    return taken;
  }

  private async prepare(slice: readonly StreamRecord[]): Promise<void> {
    try {
      await this.definition.prepare?.(slice);
    } catch (error) {
      throw WaitFailed.of(`prepare() of the store ${this.name}`, error);
    }
  }

  private progressLog(from: number, end: number): (position: number) => void {
    const { store, name, changelog } = this;
    const { logger, now } = this.options;
    const [startedAt, keysBefore] = [now(), store.size];
    let toldAt = startedAt;
    return (position) => {
      const at = now();
      if (at - toldAt < LOG_EVERY_MS) return;
      toldAt = at;
      logger.info('store_restoring', {
        store: name,
        changelog: partitionName(changelog),
        keys: store.size,
        percent: Math.floor((100 * (position - from)) / (end - from)),
        keysPerSecond: Math.round(((store.size - keysBefore) * 1_000) / (at - startedAt)),
      });
    };
  }

  private warnOfOthers(position: number, base: number): void {
    if (this.warned) return;
    this.warned = true;
    const changelog = partitionName(this.changelog);
    this.options.logger.warn('changelog_has_other_writers', { store: this.name, changelog, position, base });
  }
}
