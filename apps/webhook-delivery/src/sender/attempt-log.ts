import { consumerGroups, topics, type AvroCodecs, type WebhookAttempt } from '@waypost/contracts';
import { partitionName, type TransactionalProducer } from '@waypost/streams';
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
  /** `onDurable` is called once the attempt is committed, never before. `beforeCommit` marks what it finishes. */
  append(attempt: WebhookAttempt, key: Buffer, steps: { beforeCommit?: () => void; onDurable: () => void }): void;
  /** Commits the position when it moved without an attempt. */
  commitPosition(): void;
  readonly attemptsEnd: number;
  /** Resolves when everything appended is committed or the log has failed. */
  drained(): Promise<void>;
}

interface Entry {
  readonly attempt: WebhookAttempt;
  readonly key: Buffer;
  readonly beforeCommit?: () => void;
  readonly onDurable: () => void;
}

export const createAttemptLog = (options: AttemptLogOptions): AttemptLog => {
  const { producer, codecs, partition, onFailure } = options;
  const target = { topic: topics.webhookAttempts.name, partition };
  let waiting: Entry[] = [];
  let writing: Promise<void> | null = null;
  let failed = false;
  let attemptsEnd = options.attemptsEnd;
  let committed = options.committed;

  const write = async (entries: readonly Entry[]): Promise<void> => {
    for (const entry of entries) entry.beforeCommit?.();
    const point = options.commitPoint();
    const records = entries.map(({ attempt, key }) => ({ ...target, key, value: codecs.webhookAttempts.encode(attempt) }));
    const baseOffsets = await producer.commit({
      records,
      offset: {
        groupId: consumerGroups.sender.id,
        topic: topics.webhookDeliveries.name,
        partition,
        offset: point.offset,
        metadata: String(point.foldFrom),
      },
    });
    committed = point;
    const base = baseOffsets.get(partitionName(target));
    if (base !== undefined) attemptsEnd = base + records.length + 1; // the transaction's marker lies behind them
    for (const entry of entries) entry.onDurable();
  };

  const writeAll = async (): Promise<void> => {
    try {
      while (waiting.length > 0 || options.commitPoint().offset !== committed.offset) {
        const entries = waiting;
        waiting = [];
        await write(entries);
        if (waiting.length === 0) break;
      }
    } catch (error) {
      failed = true;
      waiting = [];
      onFailure(error instanceof Error ? error : new Error(String(error)));
    } finally {
      writing = null;
    }
  };

  const start = (): void => {
    // One turn of the event loop later, so that attempts that end together are written together.
    if (!failed) writing ??= Promise.resolve().then(writeAll);
  };

  return {
    get attemptsEnd() {
      return attemptsEnd;
    },
    append: (attempt, key, steps) => {
      if (failed) return;
      waiting.push({ attempt, key, ...steps });
      start();
    },
    commitPosition: () => {
      if (options.commitPoint().offset !== committed.offset) start();
    },
    drained: async () => {
      while (writing) await writing;
    },
  };
};
