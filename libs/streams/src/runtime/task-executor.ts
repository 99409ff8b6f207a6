import { settleOrAbort, waitOrAbort } from '../abort.js';
import type { Fetcher, GroupMember, PartitionConsumer, StreamsBackend } from '../backend/backend.js';
import { errorMessage, StreamsError, type StreamsErrorCode, toError } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import { partitionName, type RecordBatch, type TopicPartition } from '../record.js';
import type { PartitionTask, TaskContext } from './partition-task.js';

export interface TaskExecutorOptions {
  readonly partition: TopicPartition;
  /** In which the group assigned the partition. */
  readonly generation: number;
  readonly backend: StreamsBackend;
  readonly member: GroupMember;
  readonly fetcher: Fetcher;
  readonly createTask: (context: TaskContext) => PartitionTask;
  readonly logger: StreamsLogger;
  readonly onFatal: (error: Error) => void;
  /** Resolves when an earlier task of this process for the same partition is closed: there are never two. */
  readonly after?: Promise<void> | undefined;
}

const IDLE_AFTER_MS = 200;
const REBUILD_FIRST_WAIT_MS = 20;
const REBUILD_MAX_WAIT_MS = 3_000;
const STOPPED_RETRY_MS = 10_000;
const REBUILDS_TO_LONGEST_WAIT = 9;
/** About a minute and a half of retries: a failure that lasts longer needs a new process and an operator. */
const MAX_REBUILDS_WITHOUT_PROGRESS = 30;
/** A task without input counts as healthy after some seconds. */
const IDLE_POLLS_OF_PROGRESS = 50;
/** How long a closing task may take to finish its transaction. */
const CLOSE_GRACE_MS = 2_500;
/** Opening a task fences others: an open that is still running must not fence the next owner of the partition. */
const OPEN_GRACE_MS = 1_000;

/** The group revoked the partition while the task was being built; not an error. */
class OwnershipLost extends Error {}

/** Runs one task while the partition is assigned to this process, and rebuilds it after each failure. */
export class TaskExecutor {
  /** The task is open, and processes batches. */
  running = false;
  private readonly closing = new AbortController();
  private failing = new AbortController();
  private task: PartitionTask | null = null;
  private generation: number;
  private readonly done: Promise<void>;

  constructor(private readonly options: TaskExecutorOptions) {
    this.generation = options.generation;
    this.done = this.run();
  }

  /** The partition is assigned to this process in this generation too. */
  keep(generation: number): void {
    this.generation = generation;
  }

  async close(): Promise<void> {
    this.closing.abort(new OwnershipLost());
    this.task?.revoke?.();
    await this.done;
  }

  private async run(): Promise<void> {
    await this.options.after;
    let rebuilds = 0;
    while (!this.isClosing()) {
      let maxWaitMs = REBUILD_MAX_WAIT_MS;
      this.failing = new AbortController();
      const task = this.options.createTask(this.context(this.failing));
      this.task = task;
      try {
        await this.runTask(task, () => {
          rebuilds = 0;
        });
      } catch (error) {
        this.handleFailure(error, ++rebuilds);
        if (isStopping(error)) {
          maxWaitMs = STOPPED_RETRY_MS;
          // However long it stopped, failures of another kind have their own tries.
          rebuilds = Math.min(rebuilds, REBUILDS_TO_LONGEST_WAIT);
        }
      }
      this.running = false;
      await this.closeTask(task);
      await waitOrAbort(Math.min(REBUILD_FIRST_WAIT_MS * 2 ** rebuilds, maxWaitMs), this.closing.signal);
    }
  }

  private isClosing(): boolean {
    return this.closing.signal.aborted;
  }

  /** Rebuilds the task or ends the process; a failed task never continues. */
  private handleFailure(error: unknown, rebuilds: number): void {
    if (error instanceof OwnershipLost) return;
    const partition = partitionName(this.options.partition);
    if (this.isClosing() && !isFatal(error)) {
      // The next owner starts from the last commit.
      this.options.logger.debug('task_left_behind', { partition, error: errorMessage(error) });
      return;
    }
    if (isFatal(error)) this.options.onFatal(error);
    else if (isStopping(error)) {
      this.options.logger.error('partition_stopped', { partition, reason: error.code, error: error.message });
    } else if (rebuilds > MAX_REBUILDS_WITHOUT_PROGRESS) this.options.onFatal(stuck(partition, error));
    else {
      const cause = error instanceof Error && error.cause !== undefined ? errorMessage(error.cause) : undefined;
      this.options.logger.warn('task_rebuild', { partition, error: errorMessage(error), cause, rebuilds });
    }
  }

  private async runTask(task: PartitionTask, onProgress: () => void): Promise<void> {
    await this.confirmOwnership();
    const { partition, fetcher } = this.options;
    const position = await settleOrAbort(this.openTask(task), this.closing.signal, OPEN_GRACE_MS);
    const consumer = fetcher.open(partition, position);
    const poller = new BatchPoller(consumer);
    const wakeup = (): void => poller.wakeup();
    const signals = [this.closing.signal, this.failing.signal];
    for (const signal of signals) signal.addEventListener('abort', wakeup);
    this.running = true;
    try {
      await this.consume(task, poller, onProgress);
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', wakeup);
      consumer.close();
    }
  }

  private async openTask(task: PartitionTask): Promise<number> {
    const { position } = await task.open();
    return position === 'earliest' ? this.options.backend.startOffset(this.options.partition) : position;
  }

  private async consume(task: PartitionTask, poller: BatchPoller, onProgress: () => void): Promise<void> {
    const [closing, failing] = [this.closing.signal, this.failing.signal];
    let idlePolls = 0;
    while (!this.isClosing()) {
      failing.throwIfAborted();
      const batch = await poller.poll(IDLE_AFTER_MS);
      if (this.isClosing()) break;
      failing.throwIfAborted();
      const work = batch ? task.process(batch) : (task.idle?.() ?? Promise.resolve());
      await settleOrAbort(settleOrAbort(work, failing), closing, CLOSE_GRACE_MS);
      if (batch || ++idlePolls === IDLE_POLLS_OF_PROGRESS) onProgress();
    }
    failing.throwIfAborted();
    await settleOrAbort(task.suspend?.() ?? Promise.resolve(), closing, CLOSE_GRACE_MS);
  }

  private context(failing: AbortController): TaskContext {
    const { partition, member } = this.options;
    return {
      ...partition,
      leaseValid: () => member.leaseValid(),
      confirmOwnership: () => this.confirmOwnership(),
      committedOffset: () => member.committed(partition),
      commitOffset: (offset, metadata = '') => member.commit(partition, { offset, metadata }),
      fail: (error) => failing.abort(error),
    };
  }

  private async confirmOwnership(): Promise<void> {
    while (!this.isClosing()) {
      const { generation } = this;
      if (await settleOrAbort(this.options.member.confirm(generation), this.closing.signal)) return;
      if (this.generation === generation) await waitOrAbort(REBUILD_FIRST_WAIT_MS, this.closing.signal);
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

/** Polls a partition with a timeout, as Kafka's consumer does. A batch that comes too late is kept for the next poll. */
class BatchPoller {
  private batch: RecordBatch | null = null;
  private failure: Error | null = null;
  private isFetching = false;
  private resume: () => void = () => undefined;

  constructor(private readonly consumer: PartitionConsumer) {}

  /** The next batch; null when none came within `timeoutMs` or before wakeup(). */
  async poll(timeoutMs: number): Promise<RecordBatch | null> {
    this.fetch();
    if (!this.batch && !this.failure) await this.wait(timeoutMs);
    if (this.failure) throw this.failure;
    const { batch } = this;
    this.batch = null;
    return batch;
  }

  wakeup(): void {
    this.resume();
  }

  private fetch(): void {
    if (this.isFetching || this.batch) return;
    this.isFetching = true;
    this.consumer.next().then(
      (batch) => {
        this.isFetching = false;
        this.batch = batch;
        this.resume();
      },
      (error: unknown) => {
        this.failure = toError(error);
        this.resume();
      },
    );
  }

  private wait(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function stuck(partition: string, error: unknown): StreamsError {
  return new StreamsError('TASK_STUCK', `The task of ${partition} cannot continue: ${errorMessage(error)}`, {
    cause: error,
  });
}

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

/** Only this partition stops: it is tried again until someone has done what the message says. */
function isStopping(error: unknown): error is StreamsError {
  return error instanceof StreamsError && (error.code === 'NEWER_VERSION' || error.code === 'POSITION_LOST');
}

/** Continuing would lose or invent data, or can never succeed: the process stops and reports the error. */
function isFatal(error: unknown): error is Error {
  if (error instanceof StreamsError) return FATAL_CODES.has(error.code);
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof SyntaxError;
}
