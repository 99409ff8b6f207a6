import { setTimeout as sleep } from 'node:timers/promises';
import type { Fetcher, PartitionFeed, StreamsBackend } from '../backend/backend.js';
import { errorMessage, StreamsError, toError } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import { slicesOf, type StreamRecord, type TopicPartition } from '../record.js';
import { verifySettings } from '../topology/topic-settings.js';

const PREPARE_RETRY_MS = 500;
const COUNT_EVERY_MS = 30_000;
const SLICE_RECORDS = 1_000;

export interface GlobalTableOptions {
  readonly backend: StreamsBackend;
  readonly topic: string;
  /** Called for each committed record in log order; a null value deletes the key. Must not throw. */
  readonly onRecord: (key: Buffer, value: Buffer | null, record: StreamRecord) => void;
  /** Called before these records, e.g. to look up schemas. */
  readonly prepare?: ((records: readonly StreamRecord[]) => Promise<void>) | undefined;
  readonly logger: StreamsLogger;
  readonly onFatal: (error: Error) => void;
}

/** A compacted topic with one partition that every instance reads in full and then follows. */
export interface GlobalTable {
  /**
   * Resolves when the topic has been read to its end.
   * @throws {StreamsError} TOPIC_MISSING, PARTITIONS_DIFFER, TOPIC_SETTINGS: the fix
   */
  start(): Promise<void>;
  /** Resolves when every record in the topic at the call is applied. Rejects if the table is no longer followed. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
}

export function createGlobalTable(options: GlobalTableOptions): GlobalTable {
  return new ConsumedGlobalTable(options);
}

class ConsumedGlobalTable implements GlobalTable {
  private readonly partition: TopicPartition;
  private fetcher: Fetcher | null = null;
  private feed: PartitionFeed | null = null;
  private position = 0;
  /** Why the table is no longer followed, and must not look up to date. */
  private ended: Error | null = null;
  private stallEnds: (() => void) | null = null;
  private counter: NodeJS.Timeout | undefined;
  private waiters: { end: number; resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor(private readonly options: GlobalTableOptions) {
    this.partition = { topic: options.topic, partition: 0 };
  }

  async start(): Promise<void> {
    const { backend, topic } = this.options;
    const wrong = errorOfCount(topic, await backend.partitionCount(topic));
    if (wrong) throw wrong;
    await verifySettings([{ topic, role: 'a table that every process reads', use: 'table' }], this.options);
    this.position = await backend.startOffset(this.partition);
    this.fetcher = backend.fetcher();
    this.feed = this.fetcher.open(this.partition, this.position);
    this.counter = setInterval(() => void this.countPartitions(), COUNT_EVERY_MS).unref();
    void this.follow(this.feed);
    await this.caughtUp();
    this.options.logger.info('global_table_ready', { topic, position: this.position });
  }

  async caughtUp(): Promise<void> {
    const end = await this.options.backend.endOffset(this.partition);
    if (this.ended) throw this.ended;
    if (this.position >= end) return;
    await new Promise<void>((resolve, reject) => {
      this.waiters.push({ end, resolve, reject });
      if (!this.stallEnds) this.watch();
    });
  }

  async stop(): Promise<void> {
    this.end(new StreamsError('PROTOCOL', `The table of ${this.options.topic} is stopped.`));
    this.feed?.close();
    await this.fetcher?.close();
  }

  private async follow(feed: PartitionFeed): Promise<void> {
    try {
      while (!this.ended) {
        const batch = await feed.next();
        for (const slice of slicesOf(batch, SLICE_RECORDS)) {
          await this.prepare(slice);
          for (const record of slice) if (record.key) this.options.onRecord(record.key, record.value, record);
        }
        this.position = batch.nextOffset;
        for (const { end, resolve } of this.waiters) if (end <= this.position) resolve();
        this.waiters = this.waiters.filter(({ end }) => end > this.position);
        this.watch();
      }
    } catch (error) {
      this.fail(error);
    }
  }

  /** Brokers do not announce new partitions, whose rows would be missing. */
  private async countPartitions(): Promise<void> {
    const { backend, topic } = this.options;
    const count = await backend.partitionCount(topic, { fresh: true }).catch(() => null);
    const wrong = count === null ? null : errorOfCount(topic, count);
    if (wrong) this.fail(wrong);
  }

  private fail(error: unknown): void {
    if (this.ended) return;
    this.options.logger.error('global_table_failed', { topic: this.options.topic, error: errorMessage(error) });
    const failure = toError(error);
    this.end(failure);
    this.options.onFatal(failure);
  }

  private end(why: Error): void {
    this.ended ??= why;
    clearInterval(this.counter);
    for (const { reject } of this.waiters.splice(0)) reject(why);
    this.watch();
  }

  /** A dependency may be unavailable for a while: the table waits, and so do its readers. */
  private async prepare(records: readonly StreamRecord[]): Promise<void> {
    for (let tries = 1; !this.ended; tries++) {
      try {
        await this.options.prepare?.(records);
        return;
      } catch (error) {
        if (tries === 1)
          this.options.logger.warn('global_table_waits', { topic: this.options.topic, error: errorMessage(error) });
        await sleep(PREPARE_RETRY_MS);
      }
    }
  }

  /** Reports a stall if others wait for the table and its position does not move. */
  private watch(): void {
    this.stallEnds?.();
    const { backend, topic } = this.options;
    const isAwaited = this.waiters.length > 0;
    this.stallEnds = isAwaited ? backend.stalls.begin('table', topic, 'Its next records cannot be read yet.') : null;
  }
}

function errorOfCount(topic: string, partitions: number | null): StreamsError | null {
  if (partitions === 1) return null;
  const found = partitions === null ? 'does not exist' : `has ${String(partitions)} partitions`;
  return new StreamsError(
    partitions === null ? 'TOPIC_MISSING' : 'PARTITIONS_DIFFER',
    `The topic ${topic} ${found}: create it with one partition, which every process reads.`,
  );
}
