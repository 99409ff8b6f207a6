import type { CommittedOffset } from '../backend/backend.js';
import type { RecordBatch, TopicPartition } from '../record.js';

/**
 * The work on one input partition. The calls never overlap. A rejection closes the task and rebuilds it through
 * open(), which reads the truth again from where it is kept.
 */
export interface PartitionTask {
  /** Prepares everything and says from where to read. */
  open(): Promise<{ readonly position: number | 'earliest' }>;
  process(batch: RecordBatch): Promise<void>;
  /** Nothing came for a moment: time to commit what was put off. */
  idle?(): Promise<void>;
  /** No more batches will come, and the task was well until now: time to commit what was put off. close() follows. */
  suspend?(): Promise<void>;
  /** The task is about to be closed: whatever process() waits for should be given up. */
  revoke?(): void;
  close(): Promise<void>;
}

export interface TaskContext extends TopicPartition {
  /** Whether no other member can have been given the partition yet; false after a pause of this process, until confirmed. */
  leaseValid(): boolean;
  /** Resolves when the group has confirmed, after the call, that the partition is ours; rejects when it was lost. */
  confirmOwnership(): Promise<void>;
  committedOffset(): Promise<CommittedOffset | null>;
  /** A plain group commit, for tasks that keep their truth elsewhere: it shows the lag. */
  commitOffset(nextOffset: number, metadata?: string): Promise<void>;
  /** Closes and rebuilds the task, from work that runs beside process(). */
  fail(error: Error): void;
}
