import { setImmediate as nextTurn } from 'node:timers/promises';
import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import { slicesOf, type StreamRecord, type StreamsBackend, StreamsError } from '@waypost/streams';
import { type Fetcher, type PartitionFeed, toError } from '@waypost/streams/admin';
import type { PartitionBacklogs } from './partition-backlogs.js';
import type { SubscriptionBacklog } from './subscription-backlog.js';

export interface CatchUpOptions {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly partition: number;
  readonly backlogs: PartitionBacklogs;
  /** @returns a promise if the record is not a delivery: no later one may be taken until it has resolved */
  readonly take: (backlog: SubscriptionBacklog, record: StreamRecord) => Promise<void> | null;
  /** Called when a backlog has taken everything up to the position of the partition's reader. */
  readonly onCaughtUp: () => void;
  /** Called when retention has deleted waiting deliveries at these offsets, among those of other subscriptions. */
  readonly onDeleted: (subscriptionId: string, from: number, to: number) => void;
  readonly onFailure: (error: Error) => void;
  /** Skips a batch that cannot be decoded if a command says so. @returns the offset after it; null: no command */
  readonly leaveOut: (error: unknown) => Promise<number | null>;
}

const SLICE_RECORDS = 500;
/** Shorter stretches that no backlog needs are read: opening the log elsewhere costs a request. */
const MIN_SKIPPED_RECORDS = 2_000;

/** Whether retention overtook the pass: the next one starts at the new start of the log. */
function isGone(error: unknown): boolean {
  return error instanceof StreamsError && error.code === 'OFFSET_OUT_OF_RANGE';
}

interface NextRead {
  readonly offset: number;
  readonly isSkipping: boolean;
}

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

  private passStart(): number | null {
    const { backlogs } = this.options;
    let start: number | null = null;
    for (const backlog of backlogs.parked) {
      const from = this.startOf(backlog);
      if (from !== null) start = Math.min(start ?? Infinity, from);
    }
    return start;
  }

  private startOf(backlog: SubscriptionBacklog): number | null {
    const { backlogs } = this.options;
    // A backlog that a predecessor parked may start ahead of the reader: it is read after the reader has passed it.
    if (backlog.parkedFrom === null || backlog.parkedFrom > backlogs.position) return null;
    return backlogs.hasMuchRoom(backlog) ? backlog.parkedFrom : null;
  }

  private async read(wantedStart: number): Promise<void> {
    const { backend, partition, backlogs } = this.options;
    const source = { topic: topics.webhookDeliveries.name, partition };
    const start = Math.max(wantedStart, await this.logStart());
    if (this.hasClosed()) return;
    this.pass++;
    this.fetcher ??= backend.fetcher();
    let from: number | null = start < backlogs.position ? start : this.endPass(start);
    while (from !== null && !this.isClosed) {
      const feed = this.fetcher.open(source, from);
      try {
        from = await this.readOn(feed, start);
      } catch (error) {
        from = await this.options.leaveOut(error);
        if (from === null) throw error;
        if (from >= backlogs.position) from = this.endPass(start);
      } finally {
        feed.close();
      }
    }
  }

  /** @returns where the pass continues after a stretch that no backlog needs; null: the pass is over */
  private async readOn(feed: PartitionFeed, start: number): Promise<number | null> {
    for (;;) {
      const next = await this.readBatch(feed, start);
      if (next === null || next.isSkipping) return next && next.offset;
    }
  }

  /** Skips deliveries that retention has deleted, which takes a day without senders beyond the 15 of R-29. */
  private async logStart(): Promise<number> {
    const { backend, partition, backlogs, onDeleted } = this.options;
    const logStart = await backend.startOffset({ topic: topics.webhookDeliveries.name, partition });
    for (const backlog of backlogs.parked) {
      if (backlog.parkedFrom === null || backlog.parkedFrom >= logStart) continue;
      onDeleted(backlog.subscriptionId, backlog.parkedFrom, logStart);
      backlog.parkedFrom = logStart;
    }
    return logStart;
  }

  /** @returns where the pass continues; null: the pass is over */
  private async readBatch(feed: PartitionFeed, start: number): Promise<NextRead | null> {
    const { codecs, backlogs } = this.options;
    const batch = await feed.next();
    for (const slice of slicesOf(batch, SLICE_RECORDS)) {
      await resolveBatch(codecs.webhookDeliveries, slice);
      if (this.isClosed) return null;
      for (const record of slice) {
        // The partition's own reader has not reached this record and will offer it itself.
        if (record.offset >= backlogs.position) return this.endPass(start);
        const quarantined = this.offer(record, start);
        if (quarantined === null) continue;
        await quarantined;
        if (this.hasClosed()) return null;
      }
      const next = this.nextRead(start, (slice.at(-1)?.offset ?? start) + 1);
      if (next === null || next.isSkipping) return next;
      await nextTurn();
    }
    return batch.nextOffset < backlogs.position ? { offset: batch.nextOffset, isSkipping: false } : this.endPass(start);
  }

  /** The first delivery at or after `from` that a backlog of this pass may need. */
  private nextRead(start: number, from: number): NextRead | null {
    let needed = Infinity;
    for (const backlog of this.options.backlogs.parked) {
      if (this.covers(backlog, start)) needed = Math.min(needed, backlog.parkedFrom ?? Infinity);
    }
    if (needed === Infinity) return null;
    const isSkipping = needed - from >= MIN_SKIPPED_RECORDS;
    return { offset: isSkipping ? needed : from, isSkipping };
  }

  /** Call without awaiting once the pass has reached the reader's position, before the reader moves on. */
  private endPass(start: number): null {
    const { backlogs, onCaughtUp } = this.options;
    for (const backlog of backlogs.parked) {
      if (!this.covers(backlog, start)) continue;
      backlogs.caughtUp(backlog);
      onCaughtUp();
    }
    return null;
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
