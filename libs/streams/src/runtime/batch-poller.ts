import type { Fetcher, PartitionFeed } from '../backend/backend.js';
import { toError } from '../errors.js';
import type { RecordBatch, TopicPartition } from '../record.js';

/** Polls a partition with a timeout, as Kafka's consumer does. A batch that comes too late is kept for the next poll. */
export class BatchPoller {
  private batch: RecordBatch | null = null;
  private failure: Error | null = null;
  private isFetching = false;
  private resume: () => void = () => undefined;
  private feed: PartitionFeed;

  constructor(
    private readonly fetcher: Fetcher,
    private readonly partition: TopicPartition,
    position: number,
  ) {
    this.feed = fetcher.open(partition, position);
  }

  /** The next batch; null when none came within `timeoutMs` or before wakeup(). */
  async poll(timeoutMs: number): Promise<RecordBatch | null> {
    this.fetch();
    if (!this.batch && !this.failure) await this.wait(timeoutMs);
    if (this.failure) throw this.failure;
    const { batch } = this;
    this.batch = null;
    return batch;
  }

  wakeup(): void {
    this.resume();
  }

  /** Reads from another position. No batch is on its way: the last poll returned one, or rejected. */
  seek(position: number): void {
    this.feed.close();
    this.feed = this.fetcher.open(this.partition, position);
    this.failure = null;
    this.isFetching = false;
  }

  close(): void {
    this.feed.close();
  }

  private fetch(): void {
    if (this.isFetching || this.batch) return;
    this.isFetching = true;
    this.feed.next().then(
      (batch) => {
        this.isFetching = false;
        this.batch = batch;
        this.resume();
      },
      (error: unknown) => {
        this.failure = toError(error);
        this.resume();
      },
    );
  }

  private wait(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
