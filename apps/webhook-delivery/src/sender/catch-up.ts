import { setImmediate as nextTurn } from 'node:timers/promises';
import { resolveBatch, topics, type AvroCodecs } from '@waypost/contracts';
import {
  slicesOf,
  StreamsError,
  type Fetcher,
  type PartitionConsumer,
  type StreamRecord,
  type StreamsBackend,
} from '@waypost/streams';
import type { PartitionQueues } from './partition-queues.js';
import type { SubscriptionQueue } from './subscription-queue.js';

export interface CatchUpOptions {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly partition: number;
  readonly queues: PartitionQueues;
  readonly take: (queue: SubscriptionQueue, offset: number, value: Buffer | null) => void;
  /** Of a queue everything is taken in that the partition's reader has come to. */
  readonly onCaughtUp: () => void;
  readonly onFailure: (error: Error) => void;
}

/**
 * Reads in again what was left in the log, beside the partition's own reader and up to where that is. One pass serves
 * all queues that have much room as it begins; deliveries of others are passed over by their key, without decoding.
 */
export interface CatchUp {
  /** Some queue may have room now. */
  kick(): void;
  close(): Promise<void>;
}

const SLICE_RECORDS = 500;

/** Retention was quicker than the pass: the next one begins where the log begins now. */
const isGone = (error: unknown): boolean => error instanceof StreamsError && error.code === 'OFFSET_OUT_OF_RANGE';

export const createCatchUp = (options: CatchUpOptions): CatchUp => new Passes(options);

class Passes implements CatchUp {
  private running: Promise<void> | null = null;
  private fetcher: Fetcher | null = null;
  private isClosed = false;
  private pass = 0;

  constructor(private readonly options: CatchUpOptions) {}

  kick(): void {
    if (this.running || this.isClosed || this.passStart() === null) return;
    this.running = this.run().finally(() => {
      this.running = null;
    });
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
      this.options.onFailure(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Asked behind an await, where the compiler believes what was true before it. */
  private hasClosed(): boolean {
    return this.isClosed;
  }

  private passStart(): number | null {
    const { queues } = this.options;
    let start: number | null = null;
    for (const queue of queues.behind) {
      // A queue that a predecessor left behind may lie ahead of the reader: its turn comes when the reader has passed it.
      if (queue.behindFrom === null || queue.behindFrom > queues.position || !queues.hasMuchRoom(queue)) continue;
      start = Math.min(start ?? Infinity, queue.behindFrom);
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
    const feed = this.fetcher.open(source, start);
    try {
      let isReading = start < queues.position || this.endPass(start);
      while (isReading && !this.isClosed) isReading = await this.readBatch(feed, start);
    } finally {
      feed.close();
    }
  }

  /** What retention has taken cannot be read in any more. */
  private async logStart(): Promise<number> {
    const { backend, partition, queues } = this.options;
    const logStart = await backend.startOffset({ topic: topics.webhookDeliveries.name, partition });
    for (const queue of queues.behind) {
      if (queue.behindFrom !== null && queue.behindFrom < logStart) queue.behindFrom = logStart;
    }
    return logStart;
  }

  /** @returns whether the pass goes on */
  private async readBatch(feed: PartitionConsumer, start: number): Promise<boolean> {
    const { codecs, queues } = this.options;
    const batch = await feed.next();
    for (const slice of slicesOf(batch, SLICE_RECORDS)) {
      await resolveBatch(codecs.webhookDeliveries, slice);
      if (this.isClosed) return false;
      for (const record of slice) {
        // Not read by the partition's own reader yet: from here on it is its to offer.
        if (record.offset >= queues.position) return this.endPass(start);
        this.look(record, start);
      }
      if (!this.somebodyReads(start)) return false;
      await nextTurn();
    }
    return batch.nextOffset < queues.position || this.endPass(start);
  }

  /** Called in the very moment in which the pass has seen all that the partition's reader has; that would move on. */
  private endPass(start: number): false {
    const { queues, onCaughtUp } = this.options;
    for (const queue of queues.behind) {
      if (!this.reads(queue, start)) continue;
      queues.caughtUp(queue);
      onCaughtUp();
    }
    return false;
  }

  private look({ offset, key, value }: StreamRecord, start: number): void {
    const { queues, take } = this.options;
    const queue = key && queues.known(key.toString());
    if (!queue || queue.behindFrom === null || offset < queue.behindFrom || !this.reads(queue, start)) return;
    if (!queues.hasRoom(queue)) {
      queue.behindFrom = offset;
      queue.stoppedInPass = this.pass;
      return;
    }
    queue.behindFrom = offset + 1;
    take(queue, offset, value);
  }

  /** Whether the pass has seen everything of the queue from where it is behind. */
  private reads({ behindFrom, stoppedInPass }: SubscriptionQueue, start: number): boolean {
    if (behindFrom === null || behindFrom < start || behindFrom > this.options.queues.position) return false;
    return stoppedInPass !== this.pass;
  }

  private somebodyReads(start: number): boolean {
    for (const queue of this.options.queues.behind) if (this.reads(queue, start)) return true;
    return false;
  }
}
