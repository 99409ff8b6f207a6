import type { CommittedOffset } from '../backend/backend.js';
import type { RecordBatch, TopicPartition } from '../record.js';

export interface OpenedTask {
  readonly position: number;
  /** The same of the other topics that the task reads, by topic: needed for each of them. */
  readonly others?: ReadonlyMap<string, number>;
}

/**
 * The work on one input partition. The calls never overlap. After a rejection the task is closed and rebuilt, and
 * open() reads the current state again from where it is stored.
 */
export interface PartitionTask {
  open(): Promise<OpenedTask>;
  process(batch: RecordBatch): Promise<void>;
  /** No records arrived for a moment: a good time for a postponed commit. */
  idle?(): Promise<void>;
  /** No more batches follow, and the task was healthy until now: the last chance for a postponed commit. */
  suspend?(): Promise<void>;
  /** process() should stop waiting. suspend() and close() follow. */
  revoke?(): void;
  close(): Promise<void>;
}

/** The task with another process(), for what goes around each batch. All else stays a direct call: revoke() must be synchronous. */
export function withProcess(task: PartitionTask, process: PartitionTask['process']): PartitionTask {
  return {
    open: () => task.open(),
    process,
    idle: () => task.idle?.() ?? Promise.resolve(),
    suspend: () => task.suspend?.() ?? Promise.resolve(),
    revoke: () => task.revoke?.(),
    close: () => task.close(),
  };
}

export interface TaskContext extends TopicPartition {
  /** Whether no other member can own the partition yet; false after a pause of this process, until confirmed. */
  leaseValid(): boolean;
  /** The group has confirmed, after the call, that this process owns the partition; rejects when it was revoked. */
  confirmOwnership(): Promise<void>;
  /** @param topic of those that the task reads; its own unless given */
  committedOffset(topic?: string): Promise<CommittedOffset | null>;
  /**
   * A plain group commit, for tasks that store their position elsewhere: it makes the lag visible.
   * @param topic of those that the task reads; its own unless given
   */
  commitOffset(nextOffset: number, metadata?: string, topic?: string): Promise<void>;
  /** Closes and rebuilds the task, from work that runs beside process(). */
  fail(error: Error): void;
  /**
   * For work that reads the partition once more behind its position, and meets a batch that cannot be decoded. One that a
   * command skips goes to the dead-letter queue.
   * @returns the offset after it; null: it is not skipped, and fail() parks the partition at it
   */
  leaveOut(error: unknown): Promise<number | null>;
}
