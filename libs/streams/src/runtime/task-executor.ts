import type { Fetcher, GroupMember, StreamsBackend } from '../backend/backend.js';
import { StreamsError, errorMessage, type StreamsErrorCode } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import { partitionName, type TopicPartition } from '../record.js';
import { BatchPoller } from './batch-poller.js';
import { Interruption } from './interruption.js';
import type { PartitionTask, TaskContext } from './partition-task.js';

export interface TaskExecutorOptions {
  readonly partition: TopicPartition;
  readonly backend: StreamsBackend;
  readonly member: GroupMember;
  readonly fetcher: Fetcher;
  readonly createTask: (context: TaskContext) => PartitionTask;
  readonly logger: StreamsLogger;
  readonly onFatal: (error: Error) => void;
  /** Resolves when an earlier task of this process for the same partition is closed: there are never two. */
  readonly after?: Promise<void> | undefined;
}

export interface TaskExecutor {
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
/** A task without input that has lived for some seconds is well too. */
const IDLE_POLLS_OF_PROGRESS = 50;
/** What a closing task may still take to end the transaction that it is in. */
const CLOSE_GRACE_MS = 2_500;
/** To open means to fence others: whoever gets the partition next should not be fenced by what was left under way. */
const OPEN_GRACE_MS = 1_000;

/** The group gave the partition away while the task was being built; not an error. */
class OwnershipLost extends Error {}

/** Runs one task for as long as the partition is ours, and rebuilds it after each failure. */
export const createTaskExecutor = (options: TaskExecutorOptions, generation: number): TaskExecutor =>
  new PartitionTaskExecutor(options, generation);

class PartitionTaskExecutor implements TaskExecutor {
  running = false;
  private readonly closing = new Interruption();
  private task: PartitionTask | null = null;
  private failing = new Interruption();
  private readonly done: Promise<void>;

  constructor(
    private readonly options: TaskExecutorOptions,
    private generation: number,
  ) {
    this.done = this.run();
  }

  keep(generation: number): void {
    this.generation = generation;
  }

  async close(): Promise<void> {
    this.closing.raise(new OwnershipLost());
    this.task?.revoke?.();
    await this.done;
  }

  private async run(): Promise<void> {
    await this.options.after;
    let rebuilds = 0;
    while (!this.closing.isRaised()) {
      this.failing = new Interruption();
      const task = this.options.createTask(this.context(this.failing));
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
      await this.closing.pause(Math.min(REBUILD_FIRST_WAIT_MS * 2 ** rebuilds, REBUILD_MAX_WAIT_MS));
    }
  }

  /** Rebuild, or end the process: never go on as if nothing had happened. */
  private decide(error: unknown, rebuilds: number): void {
    if (error instanceof OwnershipLost) return;
    const partition = partitionName(this.options.partition);
    if (this.closing.isRaised() && !isFatal(error)) {
      // The next owner begins where the last commit has ended.
      this.options.logger.debug('task_left_behind', { partition, error: errorMessage(error) });
      return;
    }
    if (isFatal(error)) this.options.onFatal(error);
    else if (rebuilds > MAX_REBUILDS_WITHOUT_PROGRESS) this.options.onFatal(stuck(partition, error));
    else {
      const cause = error instanceof Error && error.cause !== undefined ? errorMessage(error.cause) : undefined;
      this.options.logger.warn('task_rebuild', { partition, error: errorMessage(error), cause, rebuilds });
    }
  }

  private async live(task: PartitionTask, onProgress: () => void): Promise<void> {
    await this.confirmOwnership();
    const { partition, fetcher } = this.options;
    const feed = fetcher.open(partition, await this.closing.guard(this.openTask(task), OPEN_GRACE_MS));
    const poller = new BatchPoller(feed);
    const wakeup = (): void => {
      poller.wakeup();
    };
    const stops = [this.closing.listen(wakeup), this.failing.listen(wakeup)];
    this.running = true;
    try {
      await this.consume(task, poller, onProgress);
    } finally {
      for (const stop of stops) stop();
      feed.close();
    }
  }

  private async openTask(task: PartitionTask): Promise<number> {
    const { position } = await task.open();
    return position === 'earliest' ? this.options.backend.startOffset(this.options.partition) : position;
  }

  private async consume(task: PartitionTask, poller: BatchPoller, onProgress: () => void): Promise<void> {
    let idlePolls = 0;
    while (!this.closing.isRaised()) {
      const batch = await poller.poll(IDLE_AFTER_MS);
      if (this.closing.isRaised()) break;
      this.failing.throwIfRaised();
      const work = batch ? task.process(batch) : (task.idle?.() ?? Promise.resolve());
      await this.closing.guard(this.failing.guard(work), CLOSE_GRACE_MS);
      if (batch || ++idlePolls === IDLE_POLLS_OF_PROGRESS) onProgress();
    }
    this.failing.throwIfRaised();
    await this.closing.guard(task.suspend?.() ?? Promise.resolve(), CLOSE_GRACE_MS);
  }

  private context(failing: Interruption): TaskContext {
    const { partition, member } = this.options;
    return {
      ...partition,
      leaseValid: () => member.leaseValid(),
      confirmOwnership: () => this.confirmOwnership(),
      committedOffset: () => member.committed(partition),
      commitOffset: (offset, metadata = '') => member.commit(partition, { offset, metadata }),
      fail: (error) => {
        failing.raise(error);
      },
    };
  }

  private async confirmOwnership(): Promise<void> {
    while (!this.closing.isRaised()) {
      const { generation } = this;
      if (await this.closing.guard(this.options.member.confirm(generation))) return;
      if (this.generation === generation) await this.closing.pause(REBUILD_FIRST_WAIT_MS);
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
  'INVALID_TOPOLOGY',
  'TOPIC_MISSING',
  'ACCESS_DENIED',
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
