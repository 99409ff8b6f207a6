import { waitOrAbort } from '../abort.js';
import type { Fetcher, PartitionFeed } from '../backend/backend.js';
import { toError, UndecodedBatch, WaitFailed } from '../errors.js';
import { partitionName, type RecordBatch, slicesOf, StreamRecord, type TopicPartition } from '../record.js';
import { CulpritSearch } from './culprit-search.js';
import { type ExceptionHandlers, isUndecoded, type ParkingReason } from './parking.js';

const SLICE_RECORDS = 1_000;
/** The memory limit for records in an array. A usual fetch unpacks to less; the rest is fetched again. */
const HELD_BYTES = 32 * 1024 * 1024;

/** Where a partition that has lost its position continues. */
export type SeekTarget = 'earliest' | 'latest' | number;
/** `first_left`: the start of the log, but never back if the log ends before the position. */
export type MoveTarget = SeekTarget | 'first_left';

/**
 * One of the partitions that a task reads. It outlives the tasks: skipped records, and the search for the record at
 * fault, carry over to the next one.
 */
export class TaskInput {
  readonly search = new CulpritSearch();
  position = 0;
  /** Offsets between the last processed batch and the end of the log at that fetch; null: no batch yet. */
  lagRecords: number | null = null;
  /** Where the next task begins; null: at the committed position. */
  seekTo: MoveTarget | null = null;
  /** A batch that is only partly processed: with several inputs, records are chosen one by one. */
  held: RecordBatch | null = null;
  /** Whether the log continues after the last batch, as far as is known. */
  isBehind = true;
  /** Records for the next task to hand to the dead-letter queue, by offset. */
  private readonly skipped = new Map<number, ParkingReason>();
  /** The index in `held` of the first unprocessed record. */
  private heldFrom = 0;
  /** What the last read has ended with, until it is held. */
  private arrived: RecordBatch | Error | null = null;
  private isFetching = false;
  private waking = new AbortController();
  private feed: PartitionFeed | null = null;

  constructor(
    readonly partition: TopicPartition,
    private readonly fetcher: Fetcher,
    private readonly deadLetterQueue: ExceptionHandlers['deadLetterQueue'],
  ) {}

  open(position: number): void {
    this.position = position;
    this.held = null;
    // The task will not get committed records again. Before that, a rebuilt task gets them again, and a task itself may
    // re-read batches that cannot be decoded.
    for (const [offset, { code }] of this.skipped)
      if (offset < position && !isUndecoded(code)) this.skipped.delete(offset);
    this.seek(position);
  }

  close(): void {
    this.feed?.close();
  }

  skip(reason: ParkingReason, offset: number): void {
    this.skipped.set(offset, reason);
  }

  isSkipped(offset: number): boolean {
    return this.skipped.has(offset);
  }

  wakeup(): void {
    this.waking.abort();
  }

  /** @returns whether a batch has arrived, or the read has failed */
  async arrival(timeoutMs: number): Promise<boolean> {
    this.fetch();
    if (!this.arrived) {
      this.waking = new AbortController();
      await waitOrAbort(timeoutMs, this.waking.signal);
    }
    return this.arrived !== null;
  }

  /** Holds the next batch without skipped records, if it has arrived. `asRecords`: its records are an array. */
  async hold(asRecords: boolean): Promise<void> {
    this.heldFrom = 0;
    try {
      this.held = await this.take(asRecords);
    } catch (error) {
      this.held = await this.afterCorrupt(error);
    }
  }

  private async take(asRecords: boolean): Promise<RecordBatch | null> {
    this.fetch();
    const batch = this.arrived;
    if (batch instanceof Error) throw batch;
    this.arrived = null;
    if (!batch) return null;
    this.isBehind = batch.nextOffset < batch.lastStableOffset;
    const hasSkipped = [...this.skipped.keys()].some((at) => at >= this.position && at < batch.nextOffset);
    return asRecords || this.search.isOn || hasSkipped ? this.withoutSkipped(this.readable(batch)) : batch;
  }

  /** The next timestamp in the held batch; -Infinity: it has no record. */
  get nextTimestamp(): number {
    return this.held?.records[this.heldFrom]?.timestamp ?? -Infinity;
  }

  /** Takes the held records up to a time. The rest stays in place: many short parts would each copy it. */
  cut(untilMs: number, isInclusive: boolean): RecordBatch {
    const { held, heldFrom } = this;
    if (!held) throw new Error('cut() was called without a held batch.');
    if (untilMs === Infinity && heldFrom === 0) {
      this.held = null;
      return held;
    }
    const isOver = ({ timestamp }: StreamRecord): boolean => (isInclusive ? timestamp > untilMs : timestamp >= untilMs);
    let end = heldFrom;
    for (let next = held.records[end]; next && !isOver(next); next = held.records[end]) end++;
    const next = held.records[end];
    [this.held, this.heldFrom] = next ? [held, end] : [null, 0];
    return { ...held, records: held.records.slice(heldFrom, end), nextOffset: next?.offset ?? held.nextOffset };
  }

  private async afterCorrupt(error: unknown): Promise<RecordBatch> {
    const nextOffset = await this.leaveOut(error);
    if (nextOffset === null) throw error;
    this.seek(nextOffset);
    return { ...this.partition, records: [], nextOffset, highWatermark: nextOffset, lastStableOffset: nextOffset };
  }

  /** Hands a skipped batch to the dead-letter queue. @returns the offset after it; null: it is not skipped */
  async leaveOut(error: unknown): Promise<number | null> {
    if (!(error instanceof UndecodedBatch) || error.undecoded.partition !== partitionName(this.partition)) return null;
    const { offset, nextOffset, timestamp } = error.undecoded;
    const reason = this.skipped.get(offset);
    if (!reason) return null;
    await this.deadLetter(StreamRecord.of({ offset, timestamp, key: null, value: null }), reason);
    return nextOffset;
  }

  /** The batch as far as it can be decoded and fits in memory; the rest is read, and may fail, by itself. */
  private readable(batch: RecordBatch): RecordBatch {
    const { topic, partition, highWatermark, lastStableOffset, leaderEpoch } = batch;
    const records: StreamRecord[] = [];
    let nextOffset: number;
    try {
      nextOffset = fill(records, batch);
    } catch (error) {
      if (!(error instanceof UndecodedBatch) || error.undecoded.offset <= this.position) throw error;
      nextOffset = error.undecoded.offset;
    }
    if (nextOffset < batch.nextOffset) this.seek(nextOffset);
    return { topic, partition, nextOffset, highWatermark, lastStableOffset, leaderEpoch, records };
  }

  private async withoutSkipped(batch: RecordBatch): Promise<RecordBatch> {
    for (const record of batch.records) {
      const reason = this.skipped.get(record.offset);
      if (reason) await this.deadLetter(record, reason);
    }
    return { ...batch, records: batch.records.filter(({ offset }) => !this.skipped.has(offset)) };
  }

  private async deadLetter(record: StreamRecord, reason: ParkingReason): Promise<void> {
    try {
      await this.deadLetterQueue?.(this.partition, record, reason);
    } catch (error) {
      throw WaitFailed.of('deadLetterQueue()', error);
    }
  }

  /** Reads from another position. No batch is in flight: the last one was taken, or its read has failed. */
  private seek(position: number): void {
    this.feed?.close();
    this.feed = this.fetcher.open(this.partition, position);
    this.arrived = null;
    this.isFetching = false;
    // The fetch's end of log does not apply to a batch that is not used to its end.
    this.isBehind = true;
  }

  private fetch(): void {
    const { feed } = this;
    if (this.isFetching || this.arrived || !feed) return;
    this.isFetching = true;
    const arrive = (result: RecordBatch | Error): void => {
      if (feed !== this.feed) return;
      this.isFetching = false;
      this.arrived = result;
      this.wakeup();
    };
    feed.next().then(arrive, (error: unknown) => arrive(toError(error)));
  }
}

/** Adds the records of a batch until they hold too much memory. @returns the offset after them */
function fill(records: StreamRecord[], batch: RecordBatch): number {
  let bytes = 0;
  let body: Buffer | null = null;
  for (const slice of slicesOf(batch, SLICE_RECORDS)) {
    for (const record of slice) {
      records.push(record);
      if (record.bytes === body) continue;
      body = record.bytes;
      bytes += body.length;
    }
    const last = slice.at(-1);
    if (last && bytes >= HELD_BYTES) return last.offset + 1;
  }
  return batch.nextOffset;
}
