import { setImmediate as nextIteration } from 'node:timers/promises';
import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import {
  type Fetcher,
  type PartitionFeed,
  slicesOf,
  type StreamRecord,
  type StreamsBackend,
  StreamsError,
  toError,
} from '@waypost/streams';
import type { PartitionQueues } from './partition-queues.js';
import type { SubscriptionQueue } from './subscription-queue.js';

export interface CatchUpOptions {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly partition: number;
  readonly queues: PartitionQueues;
  /** @returns a promise if the record is not a delivery: no later one may be taken until it has resolved */
  readonly take: (queue: SubscriptionQueue, record: StreamRecord) => Promise<void> | null;
  /** Called when a queue has taken in everything up to the position of the partition's reader. */
  readonly onCaughtUp: () => void;
  /** Retention has deleted what waited at these offsets, with deliveries of other subscriptions among it. */
  readonly onDeleted: (subscriptionId: string, from: number, to: number) => void;
  readonly onFailure: (error: Error) => void;
}

const SLICE_RECORDS = 500;
/** A stretch of the log that no queue needs is skipped if it is longer: opening the log elsewhere costs a request. */
const MIN_SKIPPED_RECORDS = 2_000;

/** Retention overtook the pass: the next one starts at the new start of the log. */
function isGone(error: unknown): boolean {
  return error instanceof StreamsError && error.code === 'OFFSET_OUT_OF_RANGE';
}

interface NextRead {
  readonly offset: number;
  /** The log is to be opened there. */
  readonly isSkipping: boolean;
}

/**
 * Reads the deliveries of parked queues from the log, beside the partition's own reader and up to its position. One pass
 * serves all queues that have much room when it starts; deliveries of other queues are skipped by key, without decoding.
 */
export class CatchUp {
  private running: Promise<void> | null = null;
  private fetcher: Fetcher | null = null;
  private isClosed = false;
  private pass = 0;

  constructor(private readonly options: CatchUpOptions) {}

  /** Starts a pass if a parked queue has room. */
  kick(): void {
    if (this.running || this.isClosed || this.passStart() === null) return;
    this.running = this.run().finally(() => {
      this.running = null;
    });
  }

  /** Leaves a queue that now starts earlier in the log to the next pass. */
  leaveOut(queue: SubscriptionQueue): void {
    queue.stoppedInPass = this.pass;
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
    const { queues } = this.options;
    let start: number | null = null;
    for (const queue of queues.parked) {
      // A queue that a predecessor parked may start ahead of the reader: it is read when the reader has passed it.
      if (queue.parkedFrom === null || queue.parkedFrom > queues.position || !queues.hasMuchRoom(queue)) continue;
      start = Math.min(start ?? Infinity, queue.parkedFrom);
    }
    return start;
  }

  private async read(wantedStart: number): Promise<void> {
    const { backend, partition, queues } = this.options;
    const source = { topic: topics.webhookDeliveries.name, partition };
    const start = Math.max(wantedStart, await this.logStart());
    if (this.hasClosed()) return;
    this.pass++;
    this.fetcher ??= backend.fetcher();
    let from: number | null = start < queues.position ? start : this.endPass(start);
    while (from !== null && !this.isClosed) {
      const feed = this.fetcher.open(source, from);
      try {
        from = await this.readOn(feed, start);
      } finally {
        feed.close();
      }
    }
  }

  /** @returns where the pass continues after a stretch that no queue needs; null: it is over */
  private async readOn(feed: PartitionFeed, start: number): Promise<number | null> {
    for (;;) {
      const next = await this.readBatch(feed, start);
      if (next === null || next.isSkipping) return next && next.offset;
    }
  }

  /** Deliveries that retention has deleted are skipped: the senders were away for longer than a day beyond R-29's 15. */
  private async logStart(): Promise<number> {
    const { backend, partition, queues, onDeleted } = this.options;
    const logStart = await backend.startOffset({ topic: topics.webhookDeliveries.name, partition });
    for (const queue of queues.parked) {
      if (queue.parkedFrom === null || queue.parkedFrom >= logStart) continue;
      onDeleted(queue.subscriptionId, queue.parkedFrom, logStart);
      queue.parkedFrom = logStart;
    }
    return logStart;
  }

  /** @returns where the pass continues, null: it is over */
  private async readBatch(feed: PartitionFeed, start: number): Promise<NextRead | null> {
    const { codecs, queues } = this.options;
    const batch = await feed.next();
    for (const slice of slicesOf(batch, SLICE_RECORDS)) {
      await resolveBatch(codecs.webhookDeliveries, slice);
      if (this.isClosed) return null;
      for (const record of slice) {
        // The partition's own reader has not come here yet and will offer this record itself.
        if (record.offset >= queues.position) return this.endPass(start);
        const quarantined = this.offer(record, start);
        if (quarantined === null) continue;
        await quarantined;
        if (this.hasClosed()) return null;
      }
      const next = this.nextRead(start, (slice.at(-1)?.offset ?? start) + 1);
      if (next === null || next.isSkipping) return next;
      await nextIteration();
    }
    return batch.nextOffset < queues.position ? { offset: batch.nextOffset, isSkipping: false } : this.endPass(start);
  }

  /** The first delivery at or after `from` that a queue of this pass may need. */
  private nextRead(start: number, from: number): NextRead | null {
    let needed = Infinity;
    for (const queue of this.options.queues.parked) {
      if (this.covers(queue, start)) needed = Math.min(needed, queue.parkedFrom ?? Infinity);
    }
    if (needed === Infinity) return null;
    const isSkipping = needed - from >= MIN_SKIPPED_RECORDS;
    return { offset: isSkipping ? needed : from, isSkipping };
  }

  /** Must be called without awaiting after the pass has reached the reader's position, before the reader moves on. */
  private endPass(start: number): null {
    const { queues, onCaughtUp } = this.options;
    for (const queue of queues.parked) {
      if (!this.covers(queue, start)) continue;
      queues.caughtUp(queue);
      onCaughtUp();
    }
    return null;
  }

  private offer(record: StreamRecord, start: number): Promise<void> | null {
    const { queues, take } = this.options;
    const { offset, key } = record;
    const queue = key && queues.known(key.toString());
    if (!queue || queue.parkedFrom === null || offset < queue.parkedFrom || !this.covers(queue, start)) return null;
    if (!queues.hasRoom(queue)) {
      queue.parkedFrom = offset;
      queue.stoppedInPass = this.pass;
      return null;
    }
    queue.parkedFrom = offset + 1;
    const quarantined = take(queue, record);
    return quarantined && this.passOnce(quarantined, queue, offset);
  }

  /** A successor must read the record again if this process dies before it is in the quarantine. */
  private async passOnce(quarantined: Promise<void>, queue: SubscriptionQueue, offset: number): Promise<void> {
    queue.parkedFrom = offset;
    await quarantined;
    if (queue.parkedFrom === offset) queue.parkedFrom = offset + 1;
  }

  /** Whether the current pass covers the queue from its `parkedFrom` on. */
  private covers({ parkedFrom, stoppedInPass }: SubscriptionQueue, start: number): boolean {
    if (parkedFrom === null || parkedFrom < start || parkedFrom > this.options.queues.position) return false;
    return stoppedInPass !== this.pass;
  }
}
