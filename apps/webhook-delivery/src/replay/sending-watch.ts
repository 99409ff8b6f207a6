import { resolveBatch, topics, type AvroCodecs } from '@waypost/contracts';
import type { PartitionConsumer, StreamsBackend } from '@waypost/streams';
import { readAttempt } from './select-deliveries.js';
import { Aborted, untilAborted } from './until-aborted.js';

/**
 * How many deliveries of each replay are written and not yet sent, by the attempts log. It keeps a replay close to its
 * sending: live events of the subscription wait behind little of it, and a cancel leaves little that still goes out.
 */
export interface SendingWatch {
  /** Counts for this replay from now on. What was written before is not known, and counts as sent. */
  follow(replayId: string, subscriptionId: string): Promise<void>;
  written(replayId: string, count: number): void;
  unsent(replayId: string): number;
  forget(replayId: string): void;
  close(): Promise<void>;
}

export interface SendingWatchOptions {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly partition: number;
  readonly onFailure: (error: Error) => void;
}

export const createSendingWatch = (options: SendingWatchOptions): SendingWatch => new AttemptsWatch(options);

interface Followed {
  readonly subscriptionId: string;
  unsent: number;
}

class AttemptsWatch implements SendingWatch {
  private readonly followed = new Map<string, Followed>();
  private reading: { readonly stop: AbortController; readonly opened: Promise<void> } | null = null;

  constructor(private readonly options: SendingWatchOptions) {}

  async follow(replayId: string, subscriptionId: string): Promise<void> {
    if (!this.followed.has(replayId)) this.followed.set(replayId, { subscriptionId, unsent: 0 });
    this.reading ??= this.open();
    await this.reading.opened;
  }

  written(replayId: string, count: number): void {
    const followed = this.followed.get(replayId);
    if (followed) followed.unsent += count;
  }

  unsent(replayId: string): number {
    return this.followed.get(replayId)?.unsent ?? 0;
  }

  /** Nobody reads the log while no replay is at work. */
  forget(replayId: string): void {
    this.followed.delete(replayId);
    if (this.followed.size > 0) return;
    this.reading?.stop.abort();
    this.reading = null;
  }

  async close(): Promise<void> {
    this.followed.clear();
    const { reading } = this;
    this.reading = null;
    reading?.stop.abort();
    await reading?.opened.catch(() => undefined);
  }

  private open(): { stop: AbortController; opened: Promise<void> } {
    const stop = new AbortController();
    const { backend, partition, onFailure } = this.options;
    const log = { topic: topics.webhookAttempts.name, partition };
    const opened = backend.endOffset(log).then((end) => {
      const fetcher = backend.fetcher();
      this.read(fetcher.open(log, end), stop.signal)
        .catch((error: unknown) => {
          if (!(error instanceof Aborted)) onFailure(error instanceof Error ? error : new Error(String(error)));
        })
        .finally(() => void fetcher.close().catch(() => undefined));
    });
    return { stop, opened };
  }

  private async read(feed: PartitionConsumer, signal: AbortSignal): Promise<void> {
    const { codecs } = this.options;
    for (;;) {
      const batch = await untilAborted(feed.next(), signal);
      const subscriptions = new Set([...this.followed.values()].map(({ subscriptionId }) => subscriptionId));
      const ours = batch.records.filter(({ key }) => key !== null && subscriptions.has(key.toString()));
      await resolveBatch(codecs.webhookAttempts, ours);
      for (const record of ours) {
        const { replayId, outcome } = readAttempt(codecs, record);
        const followed = replayId === null ? undefined : this.followed.get(replayId);
        if (followed && outcome !== 'retrying') followed.unsent = Math.max(0, followed.unsent - 1);
      }
    }
  }
}
