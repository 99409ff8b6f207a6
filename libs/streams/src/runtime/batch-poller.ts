import type { PartitionConsumer } from '../backend/backend.js';
import type { RecordBatch } from '../record.js';

/** The next batch of a feed, asked for once and waited for in turns: each wait may end without it. */
export class BatchPoller {
  private batch: RecordBatch | null = null;
  private failure: Error | null = null;
  private asked = false;
  private wake: () => void = () => undefined;

  constructor(private readonly feed: PartitionConsumer) {}

  /** The next batch; null when none came within `timeoutMs` or the wait was ended by `wakeup`. */
  async poll(timeoutMs: number): Promise<RecordBatch | null> {
    this.ask();
    if (!this.batch && !this.failure) await this.wait(timeoutMs);
    if (this.failure) throw this.failure;
    const { batch } = this;
    this.batch = null;
    return batch;
  }

  wakeup(): void {
    this.wake();
  }

  private ask(): void {
    if (this.asked || this.batch) return;
    this.asked = true;
    this.feed.next().then(
      (batch) => {
        this.asked = false;
        this.batch = batch;
        this.wake();
      },
      (error: unknown) => {
        this.failure = error instanceof Error ? error : new Error(String(error));
        this.wake();
      },
    );
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
