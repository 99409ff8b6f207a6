import { setImmediate as nextTurn } from 'node:timers/promises';
import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import { slicesOf, type StreamRecord, type StreamsBackend, StreamsError } from '@waypost/streams';
import { type Fetcher, type PartitionFeed, toError } from '@waypost/streams/admin';
import type { PartitionBacklogs } from './partition-backlogs.js';
import type { SubscriptionBacklog } from './subscription-backlog.js';

export interface CatchUpOptions {
  readonly backend: Pick<StreamsBackend, 'startOffset' | 'fetcher'>;
  readonly codecs: Pick<AvroCodecs, 'webhookDeliveries'>;
  readonly partition: number;
  readonly backlogs: PartitionBacklogs;
  /** @returns a promise if the record is not a delivery: no later one may be taken until it has resolved */
  readonly take: (backlog: SubscriptionBacklog, record: StreamRecord) => Promise<void> | null;
  /** Called when a backlog has taken everything up to the position of the partition's reader. */
  readonly onCaughtUp: () => void;
  /** Called when retention has deleted waiting deliveries at these offsets, among those of other subscriptions. */
  readonly onDeleted: (subscriptionId: string, from: number, to: number) => void;
  readonly onFailure: (error: Error) => void;
  readonly monotonicMs: () => number;
  /** Skips a batch that cannot be decoded if a command says so. @returns the offset after it; null: no command */
  readonly leaveOut: (error: unknown) => Promise<number | null>;
}

const SLICE_RECORDS = 500;
/** Shorter stretches that no backlog needs are read: opening the log elsewhere costs a request. */
const MIN_SKIPPED_RECORDS = 2_000;
/** A pass over days of the log, for a few deliveries far behind, must not hold up other backlogs. */
const MAX_PASS_MS = 1_000;

/** Whether retention overtook the pass: the next one starts at the new start of the log. */
function isGone(error: unknown): boolean {
  return error instanceof StreamsError && error.code === 'OFFSET_OUT_OF_RANGE';
}

/** How a pass goes on after a stretch of the log. */
type PassStep = { readonly type: 'continue' } | FeedEnd;

/** Why a feed is closed. */
type FeedEnd =
  /** No backlog of the pass needs the deliveries before this offset. */
  | { readonly type: 'skip'; readonly offset: number }
  /** The pass has reached the reader's position, gives way to others, has no backlog with room left, or the task closes. */
  | { readonly type: 'over' };

const CONTINUE: PassStep = Object.freeze({ type: 'continue' });
const OVER: FeedEnd = Object.freeze({ type: 'over' });

/**
 * Reads the deliveries of parked backlogs from the log, up to the position of the partition's own reader. One pass
 * serves all backlogs that have much room when it starts; deliveries of other backlogs are skipped by key, without
 * decoding.
 */
export class CatchUp {
  private running: Promise<void> | null = null;
  private fetcher: Fetcher | null = null;
  private isClosed = false;
  private pass = 0;
  /** When the pass has to give way, monotonic. */
  private passEndsMs = Infinity;
  /** Where the last pass gave way to the backlogs beyond it; null: it ended. */
  private interruptedAt: number | null = null;

  constructor(private readonly options: CatchUpOptions) {}

  /** Starts a pass if a parked backlog has room. Call it periodically, since it looks at all of them. */
  kick(): void {
    if (!this.running && !this.isClosed && this.passStart() !== null) this.start();
  }

  /** Starts a pass if this backlog needs one. Others that the delivery has made room for wait for `kick`. */
  finishedOne(backlog: SubscriptionBacklog): void {
    if (!this.running && !this.isClosed && this.startOf(backlog) !== null) this.start();
  }

  private start(): void {
    this.running = this.run().finally(() => {
      this.running = null;
    });
  }

  /** Leaves a backlog that now starts earlier in the log to the next pass. */
  leaveOut(backlog: SubscriptionBacklog): void {
    backlog.stoppedInPass = this.pass;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.fetcher?.close();
  }

  private async run(): Promise<void> {
    try {
      for (let from = this.passStart(); from !== null && !this.isClosed; from = this.passStart()) await this.read(from);
    } catch (error) {
      if (this.isClosed || isGone(error)) return;
      this.options.onFailure(toError(error));
    }
  }

  /** For checks after an await, where the compiler still assumes the value from before. */
  private hasClosed(): boolean {
    return this.isClosed;
  }

  /** The lowest start, or the lowest beyond the end of a pass that gave way. null: no backlog needs a pass. */
  private passStart(): number | null {
    const after = this.interruptedAt ?? -1;
    let [lowest, lowestAfter]: [number | null, number | null] = [null, null];
    for (const backlog of this.options.backlogs.parked) {
      const from = this.startOf(backlog);
      if (from === null) continue;
      lowest = Math.min(lowest ?? Infinity, from);
      if (from > after) lowestAfter = Math.min(lowestAfter ?? Infinity, from);
    }
    return lowestAfter ?? lowest;
  }

  private startOf(backlog: SubscriptionBacklog): number | null {
    const { backlogs } = this.options;
    // A backlog that a predecessor parked may start ahead of the reader: it is read after the reader has passed it.
    if (backlog.parkedFrom === null || backlog.parkedFrom > backlogs.position) return null;
    return backlogs.hasMuchRoom(backlog) ? backlog.parkedFrom : null;
  }

  private async read(wantedStart: number): Promise<void> {
    const start = Math.max(wantedStart, await this.logStart());
    if (this.hasClosed()) return;
    this.pass++;
    this.passEndsMs = this.options.monotonicMs() + MAX_PASS_MS;
    this.interruptedAt = null;
    if (this.endIfAtReader(start, start)) return;
    this.fetcher ??= this.options.backend.fetcher();
    let end = await this.readFrom(this.fetcher, start, start);
    while (end.type === 'skip' && !this.isClosed) end = await this.readFrom(this.fetcher, end.offset, start);
  }

  private async readFrom(fetcher: Fetcher, offset: number, start: number): Promise<FeedEnd> {
    const { partition, leaveOut } = this.options;
    const feed = fetcher.open({ topic: topics.webhookDeliveries.name, partition }, offset);
    try {
      let step = await this.readBatch(feed, start);
      while (step.type === 'continue') step = await this.readBatch(feed, start);
      return step;
    } catch (error) {
      const next = await leaveOut(error);
      if (next === null) throw error;
      return this.endIfAtReader(next, start) ? OVER : { type: 'skip', offset: next };
    } finally {
      feed.close();
    }
  }

  /** Skips deliveries that retention has deleted, which takes a day without senders beyond the 15 of R-29. */
  private async logStart(): Promise<number> {
    const { backend, partition, backlogs, onDeleted } = this.options;
    const logStart = await backend.startOffset({ topic: topics.webhookDeliveries.name, partition });
    for (const backlog of backlogs.parked) {
      if (backlog.parkedFrom === null || backlog.parkedFrom >= logStart) continue;
      onDeleted(backlog.subscriptionId, backlog.parkedFrom, logStart);
      backlogs.deletedBefore(backlog, logStart);
    }
    return logStart;
  }

  private async readBatch(feed: PartitionFeed, start: number): Promise<PassStep> {
    const batch = await feed.next();
    for (const slice of slicesOf(batch, SLICE_RECORDS)) {
      await resolveBatch(this.options.codecs.webhookDeliveries, slice);
      if (this.isClosed) return OVER;
      for (const record of slice) {
        // The partition's own reader has not reached this record and will offer it itself.
        if (this.endIfAtReader(record.offset, start)) return OVER;
        const quarantined = this.offer(record, start);
        if (quarantined === null) continue;
        await quarantined;
        if (this.hasClosed()) return OVER;
      }
      const step = this.stepAt((slice.at(-1)?.offset ?? start) + 1, start);
      if (step.type !== 'continue') return step;
      await nextTurn();
    }
    return this.endIfAtReader(batch.nextOffset, start) || this.givesWay(batch.nextOffset, start) ? OVER : CONTINUE;
  }

  private stepAt(offset: number, start: number): PassStep {
    const { backlogs } = this.options;
    let needed = Infinity;
    for (const backlog of backlogs.parked) {
      if (!this.covers(backlog, start)) continue;
      const from = backlog.parkedFrom ?? Infinity;
      // It is not worth a request to find at its place that it has no room.
      if (from - offset >= MIN_SKIPPED_RECORDS && !backlogs.hasRoom(backlog)) backlog.stoppedInPass = this.pass;
      else needed = Math.min(needed, from);
    }
    if (needed === Infinity) return OVER;
    return needed - offset < MIN_SKIPPED_RECORDS ? CONTINUE : { type: 'skip', offset: needed };
  }

  /** Whether a backlog waits for another pass, or for this one to get to a place far ahead. */
  private othersWait(offset: number, start: number): boolean {
    for (const backlog of this.options.backlogs.parked) {
      const from = this.startOf(backlog);
      if (from === null) continue;
      if (!this.covers(backlog, start) || from - offset >= MIN_SKIPPED_RECORDS) return true;
    }
    return false;
  }

  /** Ends the pass early, if it has to: it has offered all that its backlogs have before the offset. */
  private givesWay(offset: number, start: number): boolean {
    if (this.options.monotonicMs() < this.passEndsMs || !this.othersWait(offset, start)) return false;
    this.interruptedAt = offset;
    for (const backlog of this.options.backlogs.parked) {
      if (this.covers(backlog, start)) backlog.parkedFrom = Math.max(backlog.parkedFrom ?? offset, offset);
    }
    return true;
  }

  /**
   * Ends the pass if it has reached the position of the partition's reader. The comparison and the end must share a turn:
   * a reader that moved on in between would leave out the deliveries that it passed, since the backlogs are still parked.
   */
  private endIfAtReader(offset: number, start: number): boolean {
    const { backlogs, onCaughtUp } = this.options;
    if (offset < backlogs.position) return false;
    for (const backlog of backlogs.parked) {
      if (!this.covers(backlog, start)) continue;
      backlogs.caughtUp(backlog);
      onCaughtUp();
    }
    return true;
  }

  private offer(record: StreamRecord, start: number): Promise<void> | null {
    const { backlogs, take } = this.options;
    const { offset, key } = record;
    const backlog = key && backlogs.known(key.toString());
    if (!backlog || backlog.parkedFrom === null || offset < backlog.parkedFrom || !this.covers(backlog, start))
      return null;
    if (!backlogs.hasRoom(backlog)) {
      backlog.parkedFrom = offset;
      backlog.stoppedInPass = this.pass;
      return null;
    }
    backlog.parkedFrom = offset + 1;
    const quarantined = take(backlog, record);
    return quarantined && this.passOnce(quarantined, backlog, offset);
  }

  /** If this process dies before the record is in the quarantine, a successor must read it again. */
  private async passOnce(quarantined: Promise<void>, backlog: SubscriptionBacklog, offset: number): Promise<void> {
    backlog.parkedFrom = offset;
    await quarantined;
    if (backlog.parkedFrom === offset) backlog.parkedFrom = offset + 1;
  }

  private covers({ parkedFrom, stoppedInPass }: SubscriptionBacklog, start: number): boolean {
    if (parkedFrom === null || parkedFrom < start || parkedFrom > this.options.backlogs.position) return false;
    return stoppedInPass !== this.pass;
  }
}
