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
/** About a minute and a half of trying: what has not mended by then needs a fresh process and somebody's attention. */
const MAX_REBUILDS_WITHOUT_PROGRESS = 30;
/** What a closing task may still take to end the transaction that it is in. */
const CLOSE_GRACE_MS = 2_500;

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
    let rebuilds = 0;
    while (!this.isClosed()) {
      const task = this.options.createTask(this.context());
      this.task = task;
      try {
        await this.live(task, () => {
          rebuilds = 0;
        });
      } catch (error) {
        this.decide(error, ++rebuilds);
      }
      this.running = false;
      await this.closeTask(task);
      const waitMs = Math.min(REBUILD_FIRST_WAIT_MS * 2 ** rebuilds, REBUILD_MAX_WAIT_MS);
      if (!this.isClosed()) await Promise.race([sleep(waitMs), this.closing]);
    }
  }

  /** Rebuild, or end the process: never go on as if nothing had happened. */
  private decide(error: unknown, rebuilds: number): void {
    if (error instanceof OwnershipLost) return;
    const partition = partitionName(this.options.partition);
    if (isFatal(error)) this.options.onFatal(error);
    else if (rebuilds > MAX_REBUILDS_WITHOUT_PROGRESS) this.options.onFatal(stuck(partition, error));
    else {
      const cause = error instanceof Error && error.cause !== undefined ? errorMessage(error.cause) : undefined;
      this.options.logger.warn('task_rebuild', { partition, error: errorMessage(error), cause, rebuilds });
    }
  }

  private async live(task: PartitionTask, onProgress: () => void): Promise<void> {
    const failed = new Promise<never>((_, reject) => {
      this.failTask = reject;
    });
    failed.catch(() => undefined); // A failure may come when nobody races it any more; closing follows anyway.
    await this.confirmOwnership();
    const { backend, partition, fetcher } = this.options;
    const start = await this.unlessClosed(
      task
        .open()
        .then(async ({ position }) => (position === 'earliest' ? await backend.startOffset(partition) : position)),
    );
    const feed = fetcher.open(partition, start);
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
      if (batch) coming = null;
      const work = batch ? task.process(batch) : task.idle?.();
      await this.unlessClosed(Promise.race([work, failed]), CLOSE_GRACE_MS);
      onProgress();
    }
  }

  /** Gives `work` up when the host closes, after a grace: what it waits for may be away. */
  private async unlessClosed<T>(work: Promise<T>, graceMs = 0): Promise<T> {
    let settled = false;
    const watched = work.finally(() => {
      settled = true;
    });
    const givenUp = this.closing.then(async (): Promise<never> => {
      if (!settled && graceMs > 0)
        await Promise.race([sleep(graceMs, undefined, { ref: false }), watched.catch(() => undefined)]);
      throw new OwnershipLost();
    });
    givenUp.catch(() => undefined);
    return Promise.race([watched, givenUp]);
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
      leaseValid: () => member.leaseValid(),
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
      if (await this.unlessClosed(this.options.member.confirm(generation))) return;
      if (this.generation === generation) await Promise.race([sleep(REBUILD_FIRST_WAIT_MS), this.closing]);
    }
    throw new OwnershipLost();
  }

  private async closeTask(task: PartitionTask): Promise<void> {
    try {
      await task.close();
    } catch (error) {
      this.options.logger.debug('task_close_failed', { error: errorMessage(error) });
    }
  }
}

const stuck = (partition: string, error: unknown): StreamsError =>
  new StreamsError('TASK_STUCK', `The task of ${partition} cannot go on: ${errorMessage(error)}`, { cause: error });

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
