import { type AvroCodecs, resolveBatch, topics } from '@waypost/contracts';
import type { StreamsBackend } from '@waypost/streams';
import { type PartitionFeed, settleOrAbort, toError } from '@waypost/streams/admin';
import { readIfUsable } from '../process/read-own-record.js';
import { Aborted } from '../process/waits.js';

export interface SendingWatchOptions {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly partition: number;
  readonly onFailure: (error: Error) => void;
}

interface Followed {
  readonly subscriptionId: string;
  unsent: number;
}

/**
 * Counts the unsent deliveries of each replay by reading the attempt log. This keeps a replay close to its sender: live
 * events of the subscription wait behind few replayed ones, and few are sent after a cancel.
 */
export class SendingWatch {
  private readonly followed = new Map<string, Followed>();
  private reading: { readonly stop: AbortController; readonly opened: Promise<void> } | null = null;

  constructor(private readonly options: SendingWatchOptions) {}

  /** Counts from now on. Deliveries written before are unknown and count as sent. */
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

  /** The log is not read while no replay is running. */
  forget(replayId: string): void {
    this.followed.delete(replayId);
    if (this.followed.size > 0) return;
    this.reading?.stop.abort(new Aborted());
    this.reading = null;
  }

  async close(): Promise<void> {
    this.followed.clear();
    const { reading } = this;
    this.reading = null;
    reading?.stop.abort(new Aborted());
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
          if (!(error instanceof Aborted)) onFailure(toError(error));
        })
        .finally(() => void fetcher.close().catch(() => undefined));
    });
    return { stop, opened };
  }

  private async read(feed: PartitionFeed, signal: AbortSignal): Promise<void> {
    const { codecs } = this.options;
    for (;;) {
      const batch = await settleOrAbort(feed.next(), signal);
      const subscriptions = new Set([...this.followed.values()].map(({ subscriptionId }) => subscriptionId));
      const ours = batch.records.filter(({ key }) => key !== null && subscriptions.has(key.toString()));
      await resolveBatch(codecs.webhookAttempts, ours);
      for (const record of ours) {
        const attempt = readIfUsable(codecs.webhookAttempts, record.value);
        const followed = attempt?.replayId == null ? undefined : this.followed.get(attempt.replayId);
        if (followed && attempt?.outcome !== 'retrying') followed.unsent = Math.max(0, followed.unsent - 1);
      }
    }
  }
}
