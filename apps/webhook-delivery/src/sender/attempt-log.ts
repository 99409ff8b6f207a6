import { consumerGroups, topics, type AvroCodecs, type WebhookAttempt } from '@waypost/contracts';
import { partitionName, type TopicPartition, type TransactionalProducer } from '@waypost/streams';
import type { CommitPoint } from './delivery-window.js';

export interface AttemptLogOptions {
  readonly producer: TransactionalProducer;
  readonly codecs: AvroCodecs;
  readonly partition: number;
  /** Position behind the last attempt of the partition. */
  readonly attemptsEnd: number;
  readonly committed: CommitPoint;
  /** Called as a transaction is put together: what may be committed with it. */
  readonly commitPoint: () => CommitPoint;
  /** The log can no longer be written; nothing may go on as if it could. */
  readonly onFailure: (error: Error) => void;
}

/**
 * Writes the attempts of a partition in grouped transactions: whatever ended while one was under way goes into the
 * next. The position in the deliveries goes with it, and its metadata says from where to fold after a crash.
 */
export interface AttemptLog {
  /**
   * Resolves with true once the attempt is committed, never before; with false when the log has failed and nobody may
   * act on it. `beforeCommit` marks what the attempt finishes.
   */
  append(attempt: WebhookAttempt, key: Buffer, beforeCommit: () => void): Promise<boolean>;
  /** Commits the position when it moved without an attempt. */
  commitPosition(): void;
  readonly attemptsEnd: number;
  /** Resolves when everything appended is committed or the log has failed. */
  drained(): Promise<void>;
}

interface Entry {
  readonly attempt: WebhookAttempt;
  readonly key: Buffer;
  readonly beforeCommit: () => void;
  readonly settle: (durable: boolean) => void;
}

export const createAttemptLog = (options: AttemptLogOptions): AttemptLog => new GroupedAttemptLog(options);

class GroupedAttemptLog implements AttemptLog {
  private readonly target: TopicPartition;
  private waiting: Entry[] = [];
  private writing: Promise<void> | null = null;
  private failed = false;
  private committed: CommitPoint;
  attemptsEnd: number;

  constructor(private readonly options: AttemptLogOptions) {
    this.target = { topic: topics.webhookAttempts.name, partition: options.partition };
    this.attemptsEnd = options.attemptsEnd;
    this.committed = options.committed;
  }

  append(attempt: WebhookAttempt, key: Buffer, beforeCommit: () => void): Promise<boolean> {
    if (this.failed) return Promise.resolve(false);
    return new Promise((settle) => {
      this.waiting.push({ attempt, key, beforeCommit, settle });
      this.start();
    });
  }

  commitPosition(): void {
    if (this.options.commitPoint().offset !== this.committed.offset) this.start();
  }

  async drained(): Promise<void> {
    while (this.writing) await this.writing;
  }

  /** One turn of the event loop later, so that attempts that end together are written together. */
  private start(): void {
    if (!this.failed) this.writing ??= Promise.resolve().then(() => this.writeAll());
  }

  private async writeAll(): Promise<void> {
    let entries: Entry[] = [];
    try {
      do {
        entries = this.waiting;
        this.waiting = [];
        await this.write(entries);
        for (const { settle } of entries) settle(true);
      } while (this.waiting.length > 0);
    } catch (error) {
      this.failed = true;
      for (const { settle } of [...entries, ...this.waiting]) settle(false);
      this.waiting = [];
      this.options.onFailure(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.writing = null;
    }
  }

  private async write(entries: readonly Entry[]): Promise<void> {
    const { producer, codecs, partition, commitPoint } = this.options;
    for (const entry of entries) entry.beforeCommit();
    const point = commitPoint();
    const records = entries.map(({ attempt, key }) => ({
      ...this.target,
      key,
      value: codecs.webhookAttempts.encode(attempt),
    }));
    const position = { groupId: consumerGroups.sender.id, topic: topics.webhookDeliveries.name, partition };
    const offset = { ...position, offset: point.offset, metadata: String(point.foldFrom) };
    const baseOffsets = await producer.commit({ records, offset });
    this.committed = point;
    const base = baseOffsets.get(partitionName(this.target));
    if (base !== undefined) this.attemptsEnd = base + records.length + 1; // the transaction's marker lies behind them
  }
}
