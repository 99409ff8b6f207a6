import { settleOrAbort, waitOrAbort } from '../abort.js';
import type { Fetcher, GroupMember, StreamsBackend } from '../backend/backend.js';
import { CorruptBatch, errorMessage, type StreamsError, WaitFailed } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import { partitionName, type RecordBatch, slicesOf, type StreamRecord, type TopicPartition } from '../record.js';
import { BatchPoller } from './batch-poller.js';
import { CulpritSearch } from './culprit-search.js';
import {
  type ExceptionHandlerResult,
  type ExceptionHandlers,
  handlerResult,
  isOfPosition,
  isOfRecord,
  parkedForMs,
  parkingError,
  type ParkingReason,
} from './parking.js';
import type { PartitionTask, TaskContext } from './partition-task.js';

export interface TaskExecutorOptions {
  readonly partition: TopicPartition;
  readonly generation: number;
  readonly backend: StreamsBackend;
  readonly member: GroupMember;
  readonly fetcher: Fetcher;
  readonly createTask: (context: TaskContext) => PartitionTask;
  readonly handlers: ExceptionHandlers;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  readonly random: () => number;
  /** An exception handler says that the process cannot go on. */
  readonly onFatal: (error: Error) => void;
  readonly onStateChange: () => void;
  /** Resolves when an earlier task of this process for the same partition is closed: there are never two. */
  readonly after?: Promise<void> | undefined;
}

const IDLE_AFTER_MS = 200;
const SLICE_RECORDS = 1_000;
const REBUILD_FIRST_WAIT_MS = 20;
const REBUILD_MAX_WAIT_MS = 3_000;
/** The longest delay of a timer: 24 days. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;
/** About a minute and a half of retries: a failure that lasts longer needs an operator. */
const MAX_REBUILDS_WITHOUT_PROGRESS = 30;
/** A task without input counts as healthy after some seconds. */
const IDLE_POLLS_OF_PROGRESS = 50;
/** How long a closing task may take to finish its transaction. */
const CLOSE_GRACE_MS = 2_500;
/** Opening a task fences others: an open that is still running must not fence the next owner of the partition. */
const OPEN_GRACE_MS = 1_000;

/** The group revoked the partition while the task was being built; not an error. */
class OwnershipLost extends Error {}

export type TaskState = 'running' | 'starting' | 'parked';

/** Where a partition continues that has lost its position. */
export type SeekTarget = 'earliest' | 'latest' | number;

/** Runs one task while the partition is assigned to this process, and rebuilds or parks it after each failure. */
export class TaskExecutor {
  /** Set while the partition is parked, and until it makes progress again. */
  parked: ParkingReason | null = null;
  /** Offsets after the last batch that was processed, by the end of the log in the same fetch; null: none was. */
  lagRecords: number | null = null;
  private running = false;
  private readonly closing = new AbortController();
  private failing = new AbortController();
  private waking = new AbortController();
  private task: PartitionTask | null = null;
  private generation: number;
  private rebuilds = 0;
  private retries = 0;
  private readonly search = new CulpritSearch();
  /** Records that the next task hands to the dead-letter queue, by offset. */
  private readonly skipped = new Map<number, ParkingReason>();
  /** Where the next task begins; null: at the committed position. */
  private seekTo: SeekTarget | null = null;
  private readonly done: Promise<void>;

  constructor(private readonly options: TaskExecutorOptions) {
    this.generation = options.generation;
    this.done = this.run();
  }

  get partition(): TopicPartition {
    return this.options.partition;
  }

  get state(): TaskState {
    if (this.parked) return 'parked';
    return this.running ? 'running' : 'starting';
  }

  /** The partition is assigned to this process in this generation too. */
  keep(generation: number): void {
    this.generation = generation;
  }

  rebuild(reason: Error): void {
    this.failing.abort(reason);
  }

  /** Retries a parked partition now. @returns why it cannot; null: it does */
  retry(): string | null {
    this.waking.abort();
    return this.parked ? null : 'It is not parked.';
  }

  /** The record that it fails at goes to the dead-letter queue; with a lost position, it goes on at the first record of the log. */
  skip(): string | null {
    const { parked } = this;
    if (!parked) return 'It is not parked.';
    if (parked.code === 'OFFSET_OUT_OF_RANGE') return this.seek('earliest');
    if (parked.offset === null) return 'No single record is the cause: follow the message, then retry.';
    if (!this.options.handlers.deadLetterQueue) return 'There is no dead-letter queue for records of this topic.';
    this.skipped.set(parked.offset, parked);
    return this.retry();
  }

  /** Returns why it cannot; null: it does. */
  seek(to: SeekTarget): string | null {
    const { parked } = this;
    if (!parked) return 'It is not parked.';
    if (!isOfPosition(parked.code))
      return 'Neither its position nor its state is lost: follow the message, then retry.';
    if (parked.code === 'STATE_PARTLY_LOST' && to === 'earliest')
      return 'Another store has its state, and would get the log once more: delete it, give the command retry, then seek again; or give an offset.';
    this.seekTo = to;
    return this.retry();
  }

  async close(): Promise<void> {
    this.closing.abort(new OwnershipLost());
    this.retry();
    this.task?.revoke?.();
    await this.done;
  }

  private async run(): Promise<void> {
    await this.options.after;
    while (!this.isClosing()) {
      let waitMs = REBUILD_FIRST_WAIT_MS;
      this.failing = new AbortController();
      this.search.reset();
      this.task = null;
      try {
        this.task = this.options.createTask(this.context(this.failing));
        await this.runTask(this.task);
      } catch (error) {
        this.waking = new AbortController();
        waitMs = this.handleFailure(error);
      }
      this.running = false;
      this.options.onStateChange();
      await this.closeTask();
      if (!this.isClosing()) await waitOrAbort(waitMs, this.waking.signal);
    }
  }

  private isClosing(): boolean {
    return this.closing.signal.aborted;
  }

  /** Returns how long to wait for the next task: a failed one never continues. */
  private handleFailure(error: unknown): number {
    if (error instanceof OwnershipLost) return 0;
    const partition = partitionName(this.options.partition);
    if (this.isClosing()) {
      // The next owner starts from the last commit.
      this.options.logger.debug('task_left_behind', { partition, error: errorMessage(error) });
      return 0;
    }
    const rebuilds = ++this.rebuilds;
    const reason = parkingError(error, this.options.partition, rebuilds > MAX_REBUILDS_WITHOUT_PROGRESS);
    const offset = reason && isOfRecord(reason, this.options.partition) ? this.search.narrow(reason.offset) : null;
    if (reason && offset !== 'again') return this.park(reason, offset);
    const cause = error instanceof Error && error.cause !== undefined ? errorMessage(error.cause) : undefined;
    this.options.logger.warn('task_rebuild', { partition, error: errorMessage(error), cause, rebuilds });
    return reason ? REBUILD_FIRST_WAIT_MS : Math.min(REBUILD_FIRST_WAIT_MS * 2 ** rebuilds, REBUILD_MAX_WAIT_MS);
  }

  private park(error: StreamsError, offset: number | null): number {
    const { partition, logger, now, random, onFatal } = this.options;
    const { code, message } = error;
    const isKnown = this.parked?.code === code && this.parked.offset === offset;
    if (!isKnown) this.retries = 0;
    const waitMs = parkedForMs(code, this.retries++, random());
    const since = (isKnown ? this.parked?.since : undefined) ?? now();
    const reason = { code, offset, message, since, nextRetryAt: waitMs === null ? null : now() + waitMs };
    const result = this.verdictOn(reason);
    if (result === 'fail') onFatal(error);
    if (result === 'dead-letter' && offset !== null) {
      this.skipped.set(offset, reason);
      return REBUILD_FIRST_WAIT_MS;
    }
    if (!isKnown)
      logger.error('partition_parked', { partition: partitionName(partition), reason: code, offset, error: message });
    this.parked = reason;
    // The command came during the attempt that has just failed.
    if (this.seekTo !== null || (offset !== null && this.skipped.has(offset))) return REBUILD_MAX_WAIT_MS;
    return waitMs ?? LONGEST_WAIT_MS;
  }

  private verdictOn(reason: ParkingReason): ExceptionHandlerResult {
    const { partition, handlers, logger } = this.options;
    try {
      return handlerResult(handlers, partition, reason);
    } catch (error) {
      logger.error('exception_handler_failed', { partition: partitionName(partition), error: errorMessage(error) });
      return 'fail';
    }
  }

  private progressed(): void {
    this.rebuilds = 0;
    this.retries = 0;
    if (!this.parked) return;
    const partition = partitionName(this.options.partition);
    this.options.logger.info('partition_resumed', { partition, reason: this.parked.code });
    this.parked = null;
    this.options.onStateChange();
  }

  private async runTask(task: PartitionTask): Promise<void> {
    await this.confirmOwnership();
    if (this.seekTo !== null) await this.moveTo(this.seekTo);
    const { partition, fetcher } = this.options;
    const { position } = await settleOrAbort(task.open(), this.closing.signal, OPEN_GRACE_MS);
    // Committed: the task gets them no more. Until then a rebuilt one begins before them, and gets them again.
    for (const offset of this.skipped.keys()) if (offset < position) this.skipped.delete(offset);
    const poller = new BatchPoller(fetcher, partition, position);
    const wakeup = (): void => poller.wakeup();
    const signals = [this.closing.signal, this.failing.signal];
    for (const signal of signals) signal.addEventListener('abort', wakeup);
    this.running = true;
    this.options.onStateChange();
    try {
      await this.consume(task, poller, position);
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', wakeup);
      poller.close();
    }
  }

  private async moveTo(to: SeekTarget): Promise<void> {
    const { partition, member, backend } = this.options;
    const ends = { earliest: () => backend.startOffset(partition), latest: () => backend.endOffset(partition) };
    const [offset, committed] = await Promise.all([
      typeof to === 'number' ? to : ends[to](),
      member.committed(partition),
    ]);
    // It says what state there is. A seek goes on without the state that is lost.
    const isStateThere = this.parked?.code === 'OFFSET_OUT_OF_RANGE';
    const metadata = (isStateThere ? committed?.metadata : undefined) ?? '';
    await member.commit(partition, { offset, metadata });
    this.seekTo = null;
  }

  private async consume(task: PartitionTask, poller: BatchPoller, from: number): Promise<void> {
    const [closing, failing] = [this.closing.signal, this.failing.signal];
    const settled = (work: Promise<void> = Promise.resolve()): Promise<void> =>
      settleOrAbort(settleOrAbort(work, failing), closing, CLOSE_GRACE_MS);
    let idlePolls = 0;
    let position = from;
    while (!this.isClosing()) {
      failing.throwIfAborted();
      const batch = await this.poll(poller, position);
      if (this.isClosing()) break;
      failing.throwIfAborted();
      if (batch === null) {
        await settled(task.idle?.());
        if (++idlePolls === IDLE_POLLS_OF_PROGRESS) this.progressed();
        continue;
      }
      for (const part of this.search.parts(batch, position)) {
        await settled(task.process(part));
        if (this.isClosing()) break;
        if (!this.search.isOn) continue;
        await settled(task.idle?.());
        // It is committed: what fails next is not its fault.
        this.search.reset();
      }
      position = batch.nextOffset;
      this.lagRecords = Math.max(0, batch.highWatermark - position);
      if (!this.search.isOn) this.progressed();
    }
    failing.throwIfAborted();
    await settleOrAbort(task.suspend?.() ?? Promise.resolve(), closing, CLOSE_GRACE_MS);
  }

  private async poll(poller: BatchPoller, position: number): Promise<RecordBatch | null> {
    try {
      const batch = await poller.poll(IDLE_AFTER_MS);
      if (!batch) return null;
      const isSkipped = [...this.skipped.keys()].some((offset) => offset >= position && offset < batch.nextOffset);
      return this.search.isOn || isSkipped ? await this.withoutSkipped(readable(batch, position, poller)) : batch;
    } catch (error) {
      const reason = error instanceof CorruptBatch ? this.skipped.get(error.undecoded.offset) : undefined;
      if (!(error instanceof CorruptBatch) || !reason || this.isClosing()) throw error;
      const { offset, nextOffset, timestamp } = error.undecoded;
      await this.deadLetter({ offset, timestamp, key: null, value: null }, reason);
      poller.seek(nextOffset);
      const ends = { nextOffset, highWatermark: nextOffset, lastStableOffset: nextOffset };
      return { ...this.options.partition, records: [], ...ends };
    }
  }

  private async withoutSkipped(batch: RecordBatch): Promise<RecordBatch> {
    for (const record of batch.records) {
      const reason = this.skipped.get(record.offset);
      if (reason) await this.deadLetter(record, reason);
    }
    return { ...batch, records: batch.records.filter(({ offset }) => !this.skipped.has(offset)) };
  }

  private async deadLetter(record: StreamRecord, reason: ParkingReason): Promise<void> {
    try {
      await this.options.handlers.deadLetterQueue?.(this.options.partition, record, reason);
    } catch (error) {
      throw WaitFailed.of('deadLetterQueue()', error);
    }
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

  private async closeTask(): Promise<void> {
    try {
      await this.task?.close();
    } catch (error) {
      this.options.logger.debug('task_close_failed', { error: errorMessage(error) });
    }
  }
}

/** The batch as far as it can be decoded; what follows is read, and fails, by itself. */
function readable(batch: RecordBatch, position: number, poller: BatchPoller): RecordBatch {
  const { topic, partition, highWatermark, lastStableOffset } = batch;
  const records: StreamRecord[] = [];
  let { nextOffset } = batch;
  try {
    for (const slice of slicesOf(batch, SLICE_RECORDS)) records.push(...slice);
  } catch (error) {
    if (!(error instanceof CorruptBatch) || error.undecoded.offset <= position) throw error;
    nextOffset = error.undecoded.offset;
    poller.seek(nextOffset);
  }
  return { topic, partition, nextOffset, highWatermark, lastStableOffset, records };
}
