import type { CommittedOffset } from '../backend/backend.js';
import type { RecordBatch, TopicPartition } from '../record.js';

export interface OpenedTask {
  readonly position: number;
  /** The positions in all other topics of the task, by topic. */
  readonly others?: ReadonlyMap<string, number> | undefined;
}

/**
 * The work on one input partition. The calls never overlap. After a rejection the task is closed and rebuilt, and
 * open() reads the current state again from where it is stored.
 */
export interface PartitionTask {
  open(): Promise<OpenedTask>;
  process(batch: RecordBatch): Promise<void>;
  /** No records have arrived for a moment: a good time for a postponed commit. */
  idle?(): Promise<void>;
  /** No more batches follow, and the task is healthy: the last chance for a postponed commit. */
  suspend?(): Promise<void>;
  /** process() should stop waiting. suspend() and close() follow. */
  revoke?(): void;
  close(): Promise<void>;
}

/** `confirmed`: also rejects if there was a rebalance since the last confirmOwnership(). Default: `owner`. */
export type CommitAs = 'owner' | 'confirmed';

export interface TaskContext extends TopicPartition {
  /** Whether no other member can own the partition yet; false after a pause of this process, until confirmed. */
  leaseValid(): boolean;
  /** Resolves when the group has confirmed ownership after the call; rejects if the partition was revoked. */
  confirmOwnership(): Promise<void>;
  /**
   * @param topic one of the task's; its first by default
   * @param options `stable`: waits for a transaction that has a position, until it is visible or aborted
   */
  committedOffset(topic?: string, options?: { readonly stable: boolean }): Promise<CommittedOffset | null>;
  /**
   * Commits plainly to the group, for tasks that store their position elsewhere: it makes the lag visible. Rejects while
   * the group rebalances.
   * @param topic one of the task's; its first by default
   */
  commitOffset(nextOffset: number, metadata?: string, topic?: string, as?: CommitAs): Promise<void>;
  /** Closes and rebuilds the task, from work outside process(). */
  fail(error: Error): void;
  /**
   * For work that re-reads the partition behind its position and meets an undecodable batch. A batch that a command
   * skips goes to the dead-letter queue.
   * @returns the offset after it; null: it is not skipped, and fail() parks the partition at it
   */
  leaveOut(error: unknown): Promise<number | null>;
}
