import { setTimeout as sleep } from 'node:timers/promises';
import type { Fetcher, GroupMember, PartitionFeed, StreamsBackend } from '../backend/backend.js';
import { StreamsError, errorMessage, type StreamsErrorCode } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import { partitionName, type RecordBatch, type TopicPartition } from '../record.js';
import type { PartitionTask, TaskContext } from './partition-task.js';

export interface TaskHostOptions {
  readonly partition: TopicPartition;
  readonly backend: StreamsBackend;
  readonly member: GroupMember;
  readonly fetcher: Fetcher;
  readonly createTask: (context: TaskContext) => PartitionTask;
  readonly logger: StreamsLogger;
  readonly onFatal: (error: Error) => void;
}

export interface TaskHost {
  readonly running: boolean;
  /** The partition is ours in this generation too. */
  keep(generation: number): void;
  close(): Promise<void>;
}

const IDLE_AFTER_MS = 200;
const REBUILD_FIRST_WAIT_MS = 20;
const REBUILD_MAX_WAIT_MS = 3_000;

/** The group gave the partition away while the task was being built; not an error. */
class OwnershipLost extends Error {}

/** Runs one task for as long as the partition is ours, and rebuilds it after each failure. */
export const createTaskHost = (options: TaskHostOptions, generation: number): TaskHost =>
  new RunningTask(options, generation);

class RunningTask implements TaskHost {
  running = false;
  private closed = false;
  private readonly closing: Promise<null>;
  private signalClose: () => void = () => undefined;
  private failTask: (error: Error) => void = () => undefined;
  private task: PartitionTask | null = null;
  private readonly done: Promise<void>;

  constructor(
    private readonly options: TaskHostOptions,
    private generation: number,
  ) {
    this.closing = new Promise((resolve) => {
      this.signalClose = () => {
        resolve(null);
      };
    });
    this.done = this.run();
  }

  keep(generation: number): void {
    this.generation = generation;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.signalClose();
    this.task?.interrupt?.();
    await this.done;
  }

  private isClosed(): boolean {
    return this.closed;
  }

  private async run(): Promise<void> {
    let waitMs = REBUILD_FIRST_WAIT_MS;
    while (!this.isClosed()) {
      const task = this.options.createTask(this.context());
      this.task = task;
      try {
        await this.live(task, () => {
          waitMs = REBUILD_FIRST_WAIT_MS;
        });
      } catch (error) {
        if (isFatal(error)) this.options.onFatal(error);
        else if (!(error instanceof OwnershipLost)) this.sayRebuild(error, waitMs);
      }
      this.running = false;
      await this.closeTask(task);
      if (!this.isClosed()) await Promise.race([sleep(waitMs), this.closing]);
      waitMs = Math.min(waitMs * 2, REBUILD_MAX_WAIT_MS);
    }
  }

  private async live(task: PartitionTask, onProgress: () => void): Promise<void> {
    const failed = new Promise<never>((_, reject) => {
      this.failTask = reject;
    });
    failed.catch(() => undefined); // A failure may come when nobody races it any more; closing follows anyway.
    await this.confirmOwnership();
    const { position } = await task.open();
    const { backend, partition, fetcher } = this.options;
    const feed = fetcher.open(partition, position === 'earliest' ? await backend.startOffset(partition) : position);
    this.running = true;
    try {
      await this.consume(task, feed, failed, onProgress);
    } finally {
      feed.close();
    }
  }

  private async consume(
    task: PartitionTask,
    feed: PartitionFeed,
    failed: Promise<never>,
    onProgress: () => void,
  ): Promise<void> {
    let coming: Promise<RecordBatch> | null = null;
    while (!this.isClosed()) {
      coming ??= feed.next();
      const batch = await this.nextOrIdle(coming, failed);
      if (this.isClosed()) break;
      if (batch) {
        coming = null;
        await Promise.race([task.process(batch), failed]);
        onProgress();
      } else await task.idle?.();
    }
  }

  private async nextOrIdle(coming: Promise<RecordBatch>, failed: Promise<never>): Promise<RecordBatch | null> {
    let timer: NodeJS.Timeout | undefined;
    const idle = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, IDLE_AFTER_MS, null);
    });
    try {
      return await Promise.race([coming, idle, this.closing, failed]);
    } finally {
      clearTimeout(timer);
    }
  }

  private context(): TaskContext {
    const { partition, member } = this.options;
    return {
      ...partition,
      confirmOwnership: () => this.confirmOwnership(),
      committedOffset: () => member.committed(partition),
      commitOffset: (offset, metadata = '') => member.commit(partition, { offset, metadata }),
      fail: (error) => {
        this.failTask(error);
      },
    };
  }

  private async confirmOwnership(): Promise<void> {
    while (!this.isClosed()) {
      const { generation } = this;
      if (await this.options.member.confirm(generation)) return;
      if (this.generation === generation) await Promise.race([sleep(REBUILD_FIRST_WAIT_MS), this.closing]);
    }
    throw new OwnershipLost();
  }

  private sayRebuild(error: unknown, waitMs: number): void {
    const cause = error instanceof Error && error.cause !== undefined ? errorMessage(error.cause) : undefined;
    const fields = { partition: partitionName(this.options.partition), error: errorMessage(error), cause, waitMs };
    this.options.logger.warn('task_rebuild', fields);
  }

  private async closeTask(task: PartitionTask): Promise<void> {
    try {
      await task.close();
    } catch (error) {
      this.options.logger.debug('task_close_failed', { error: errorMessage(error) });
    }
  }
}

const FATAL_CODES = new Set<StreamsErrorCode>([
  'OFFSET_OUT_OF_RANGE',
  'CORRUPT_BATCH',
  'CORRUPT_STATE',
  'TOPIC_MISSING',
  'PARTITIONS_DIFFER',
  'ILLEGAL_TRANSACTION_MOVE',
]);

/** Going on would lose or invent data, or can never succeed: the process stops and says why. */
const isFatal = (error: unknown): error is Error => {
  if (error instanceof StreamsError) {
    return FATAL_CODES.has(error.code);
  }
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof SyntaxError;
};
