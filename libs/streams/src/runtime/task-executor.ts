import { setImmediate as nextTurn } from 'node:timers/promises';
import { settleOrAbort, waitOrAbort } from '../abort.js';
import type { Fetcher, GroupMember, StreamsBackend } from '../backend/backend.js';
import { errorMessage, StreamsError, UndecodedBatch } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import { partitionName, type TopicPartition } from '../record.js';
import {
  type ExceptionHandlers,
  isOfRecord,
  isUndecoded,
  parkedForMs,
  parkingError,
  type ParkingReason,
  RULES,
  verdictOn,
} from './parking.js';
import { OwnershipLost, PartitionOwnership } from './partition-ownership.js';
import type { PartitionTask, TaskContext } from './partition-task.js';
import { entriesWithout, positionEntry, valueIn } from './position-metadata.js';
import type { MoveTarget, TaskInput } from './task-input.js';
import { type NextPart, TaskInputs } from './task-inputs.js';

export interface HostOptions extends ExceptionHandlers {
  readonly backend: StreamsBackend;
  readonly logger: StreamsLogger;
  readonly now: () => number;
  /** In [0, 1): spreads the retries of parked partitions; default: they are not spread. */
  readonly random?: (() => number) | undefined;
  /** The process cannot continue and should exit with a code that makes its supervisor restart it. */
  readonly onFatal: (error: Error) => void;
}

interface TaskExecutorOptions extends HostOptions {
  /** The first names the task: the group assigns it, and the others follow. */
  readonly inputs: readonly [TopicPartition, ...TopicPartition[]];
  readonly generation: number;
  readonly member: GroupMember;
  readonly fetcher: Fetcher;
  readonly createTask: (context: TaskContext) => PartitionTask;
  readonly onStateChange: () => void;
  /** Resolves when an earlier task for the same partition is closed: there are never two in a process. */
  readonly after?: Promise<void> | undefined;
}

const RECORDS_PER_TURN = 1_000;
const REBUILD_FIRST_WAIT_MS = 20;
const REBUILD_MAX_WAIT_MS = 3_000;
/** The longest delay of a timer: 24 days. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;
/** About ninety seconds of retries: a failure that lasts longer needs an operator. */
const MAX_REBUILDS_WITHOUT_PROGRESS = 30;
/**
 * Some seconds: a former leader that resumes from a pause may reject a position as beyond its end. More retries would
 * be unsafe: a log that has lost records could have grown past the position, and new records would be skipped.
 */
const REBUILDS_WHILE_OUT_OF_RANGE = 6;
/** A task without input counts as healthy after some seconds. */
const IDLE_POLLS_OF_PROGRESS = 50;
/** How long a closing task may take to finish its transaction. */
const CLOSE_GRACE_MS = 2_500;
/** Opening a task fences others: an open that is still running must not fence the next owner of the partition. */
const OPEN_GRACE_MS = 1_000;

export type TaskState = 'running' | 'starting' | 'parked';

export interface TaskStatus extends TopicPartition {
  readonly state: TaskState;
  readonly parked: ParkingReason | null;
  /** Offsets between the last processed batch and the end of the log at that fetch; null: no batch yet. */
  readonly lagRecords: number | null;
  /** Since when the task has been processing a batch, epoch ms; null: it is not. No counter shows work that hangs. */
  readonly batchSince: number | null;
}

/** Runs one task while the partition is assigned to this process, and rebuilds or parks it after each failure. */
export class TaskExecutor {
  /** Set while the partition is parked, and until it makes progress again. */
  parked: ParkingReason | null = null;
  private running = false;
  private batchSince: number | null = null;
  /** The current attempt began with a `seek`: another one would undo what may have progressed since. */
  private isMoved = false;
  private readonly closing = new AbortController();
  private failing = new AbortController();
  private waking = new AbortController();
  private task: PartitionTask | null = null;
  private readonly ownership: PartitionOwnership;
  private rebuilds = 0;
  private retries = 0;
  private recordsThisTurn = 0;
  readonly partition: TopicPartition;
  private readonly inputs: TaskInputs;
  private parkedInput: TaskInput;
  private readonly done: Promise<void>;

  constructor(private readonly options: TaskExecutorOptions) {
    [this.partition] = options.inputs;
    this.ownership = new PartitionOwnership(options.member, options.generation, this.closing.signal);
    this.inputs = new TaskInputs(options.inputs, options.fetcher, options.deadLetterQueue);
    this.parkedInput = this.inputs.current;
    this.done = this.run();
  }

  get state(): TaskState {
    if (this.parked) return 'parked';
    return this.running ? 'running' : 'starting';
  }

  get status(): TaskStatus {
    const { partition, state, parked, batchSince } = this;
    return { ...partition, state, parked, lagRecords: this.inputs.lagRecords, batchSince };
  }

  keep(generation: number): void {
    this.ownership.keep(generation);
  }

  rebuild(reason: Error, attempt = this.failing): void {
    attempt.abort(reason);
    this.inputs.wakeup();
  }

  /** Retries a parked partition now. @returns why it cannot; null: it does */
  retry(): string | null {
    this.waking.abort();
    return this.parked ? null : 'It is not parked.';
  }

  /**
   * Dead-letters the failing record. With a lost position, continues at the first record of the log.
   *
   * @param offset of the record that is meant: by now the task may fail at another one
   */
  skip(offset?: number): string | null {
    const { parked } = this;
    if (!parked) return 'It is not parked.';
    if (offset !== undefined && offset !== parked.offset)
      return `It is parked ${parked.offset === null ? 'without a record' : `at offset ${String(parked.offset)}`} by now, not at offset ${String(offset)}.`;
    if (parked.code === 'OFFSET_OUT_OF_RANGE') return this.seek('first_left');
    if (parked.offset === null && isUndecoded(parked.code))
      return 'The batch is in a log that the task reads for its state, and state cannot be skipped. Follow the message, then retry. If that log is a changelog of this task, you can delete it instead: seek to earliest then rebuilds the state.';
    if (parked.offset === null) return 'No single record is the cause: follow the message, then retry.';
    if (!this.options.deadLetterQueue) return 'There is no dead-letter queue for records of this topic.';
    this.leaveOut(this.parkedInput, parked, parked.offset);
    return this.retry();
  }

  private leaveOut(input: TaskInput, reason: ParkingReason, offset: number): void {
    const fields = { partition: partitionName(input.partition), offset, reason: reason.code, error: reason.message };
    this.options.logger.warn('record_left_out', fields);
    input.skip(reason, offset);
  }

  /** Returns why it cannot; null: it does. */
  seek(to: MoveTarget): string | null {
    const { parked } = this;
    if (!parked) return 'It is not parked.';
    const lost = RULES[parked.code]?.lost;
    if (!lost) return 'Neither its position nor its state is lost: follow the message, then retry.';
    if (this.isMoved)
      return 'It is continuing from the position of the last command: seek again if it is parked again.';
    if (parked.code === 'STATE_PARTLY_LOST' && to === 'earliest')
      return `The log would be applied twice to the remaining state: delete its changelog, retry, then seek again; or ${this.inputs.areSeveral ? 'seek to latest' : 'give an offset'}.`;
    // A task has a position only if it has one in every input.
    const inputs = lost === 'input' ? [this.parkedInput] : this.inputs.all;
    if (typeof to === 'number' && inputs.length > 1) return 'It has several inputs: seek to earliest or latest.';
    for (const input of inputs) input.seekTo = to;
    return this.retry();
  }

  async close(): Promise<void> {
    this.closing.abort(new OwnershipLost());
    this.inputs.wakeup();
    this.retry();
    this.task?.revoke?.();
    await this.done;
  }

  private async run(): Promise<void> {
    await this.options.after;
    while (!this.isClosing()) {
      let waitMs = REBUILD_FIRST_WAIT_MS;
      this.failing = new AbortController();
      this.inputs.resetSearches();
      this.task = null;
      try {
        this.task = this.options.createTask(this.context(this.failing));
        await this.runTask(this.task);
      } catch (error) {
        this.waking = new AbortController();
        this.isMoved = false;
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
    const partition = partitionName(this.partition);
    if (this.isClosing()) {
      // The next owner starts from the last commit.
      this.options.logger.debug('task_left_behind', { partition, error: errorMessage(error) });
      return 0;
    }
    const rebuilds = ++this.rebuilds;
    // The log was cut off, or records were deleted. The next task finds out when it compares its position with the log.
    const isOutOfRange = error instanceof StreamsError && error.code === 'OFFSET_OUT_OF_RANGE';
    const isTransient = isOutOfRange && rebuilds <= REBUILDS_WHILE_OUT_OF_RANGE;
    const isStuck = rebuilds > MAX_REBUILDS_WITHOUT_PROGRESS;
    const reason = isTransient ? null : parkingError(error, this.partition, isStuck);
    this.inputs.current = this.inputs.ofError(reason) ?? this.inputs.current;
    const offset = reason && isOfRecord(reason, this.inputs.current.partition) ? this.narrow(reason) : null;
    if (reason && offset !== 'again') return this.park(reason, offset);
    const cause = error instanceof Error && error.cause !== undefined ? errorMessage(error.cause) : undefined;
    this.options.logger.warn('task_rebuild', { partition, error: errorMessage(error), cause, rebuilds });
    return reason ? REBUILD_FIRST_WAIT_MS : Math.min(REBUILD_FIRST_WAIT_MS * 2 ** rebuilds, REBUILD_MAX_WAIT_MS);
  }

  /** A batch behind the position was re-read outside process(): a search among the records would never end. */
  private narrow(reason: StreamsError): number | 'again' | null {
    const { search, position } = this.inputs.current;
    if (reason instanceof UndecodedBatch && reason.undecoded.offset < position) return reason.offset;
    return search.narrow(reason.offset);
  }

  private park(error: StreamsError, offset: number | null): number {
    const { logger, now, random = () => 0, onFatal } = this.options;
    const { code, message, cause } = error;
    const { current } = this.inputs;
    const topic = this.inputs.areSeveral ? { topic: current.partition.topic } : {};
    const { parked } = this;
    const isKnown = parked?.code === code && parked.offset === offset && this.parkedInput === current;
    const since = isKnown ? parked.since : now();
    if (!isKnown) this.retries = 0;
    const waitMs = parkedForMs(code, this.retries++, random());
    const nextRetryAt = waitMs === null ? null : now() + waitMs;
    const failure = { code, ...topic, offset, message, since, nextRetryAt };
    const { result, reason } = verdictOn(failure, current.partition, this.options);
    if (result === 'fail') onFatal(error);
    if (result === 'dead-letter' && offset !== null) {
      this.leaveOut(current, reason, offset);
      return REBUILD_FIRST_WAIT_MS;
    }
    const stack = cause instanceof Error ? cause.stack : undefined;
    const partition = partitionName(this.partition);
    const fields = { partition, ...topic, reason: code, offset, error: reason.message, stack };
    if (!isKnown) logger.error('partition_parked', fields);
    this.parked = reason;
    this.parkedInput = current;
    // The command may have come during the attempt that has just failed.
    const isToSeek = this.inputs.all.some(({ seekTo }) => seekTo !== null);
    if (isToSeek || (offset !== null && current.isSkipped(offset))) return REBUILD_MAX_WAIT_MS;
    return waitMs ?? LONGEST_WAIT_MS;
  }

  private progressed(): void {
    this.rebuilds = 0;
    this.retries = 0;
    // The seek came during an attempt that needed none: a later rebuild must not move a healthy partition.
    for (const input of this.inputs.all) input.seekTo = null;
    if (!this.parked) return;
    const partition = partitionName(this.partition);
    this.options.logger.info('partition_resumed', { partition, reason: this.parked.code });
    this.parked = null;
    this.options.onStateChange();
  }

  private async runTask(task: PartitionTask): Promise<void> {
    [this.inputs.current] = this.inputs.all;
    await this.ownership.confirm();
    // The first input goes last: until it has a position, the task counts as having none.
    for (const input of this.inputs.all.toReversed()) {
      if (input.seekTo === null) continue;
      this.isMoved = true;
      await this.moveTo(input, input.seekTo);
    }
    const opened = await settleOrAbort(task.open(), this.closing.signal, OPEN_GRACE_MS);
    try {
      this.inputs.open(opened);
      this.running = true;
      this.options.onStateChange();
      await this.consume(task);
    } finally {
      this.inputs.close();
    }
  }

  private async moveTo(input: TaskInput, to: MoveTarget): Promise<void> {
    const { member, backend } = this.options;
    const { partition } = input;
    const [earliest, latest, committed] = await Promise.all([
      backend.startOffset(partition),
      backend.endOffset(partition),
      member.committed(partition, { stable: true }),
    ]);
    const targets = { earliest, latest, first_left: Math.max(earliest, committed?.offset ?? 0) };
    const offset = typeof to === 'number' ? to : targets[to];
    // The metadata lists the stores with state. After a lost state it is dropped.
    const isStateThere = this.parked !== null && RULES[this.parked.code]?.lost === 'input';
    const before = committed?.metadata ?? '';
    const writer = valueIn(before, 'writer');
    // The epoch is that of another record. The writer has to be fenced all the same.
    const lost = writer === undefined ? '' : positionEntry('writer', writer);
    const metadata = isStateThere ? entriesWithout(before, 'epoch').join() : lost;
    await this.ownership.commit(partition, { offset, metadata }, 'confirmed');
    input.seekTo = null;
  }

  private async consume(task: PartitionTask): Promise<void> {
    let idlePolls = 0;
    this.recordsThisTurn = 0;
    while (this.goesOn()) {
      const next = await this.inputs.next();
      if (!this.goesOn()) break;
      if (next) {
        await this.processBatch(task, next);
      } else {
        await this.settled(task.idle?.());
        if (++idlePolls === IDLE_POLLS_OF_PROGRESS) this.progressed();
      }
    }
    this.failing.signal.throwIfAborted();
    await settleOrAbort(task.suspend?.() ?? Promise.resolve(), this.closing.signal, CLOSE_GRACE_MS);
  }

  /** @returns false: the partition is revoked. @throws what the task has failed with */
  private goesOn(): boolean {
    if (this.isClosing()) return false;
    this.failing.signal.throwIfAborted();
    return true;
  }

  private async processBatch(task: PartitionTask, { input, batch }: NextPart): Promise<void> {
    for (const part of input.search.parts(batch, input.position)) {
      this.batchSince = this.options.now();
      await this.settled(task.process(part)).finally(() => (this.batchSince = null));
      if (this.isClosing()) break;
      input.position = part.nextOffset;
      if (!this.inputs.isToCommit) continue;
      await this.settled(task.idle?.());
      this.inputs.resetSearches();
    }
    input.position = batch.nextOffset;
    input.lagRecords = Math.max(0, batch.highWatermark - batch.nextOffset);
    if (!this.inputs.isSearching) this.progressed();
    if (this.inputs.areSeveral) await this.breathe(batch.records.length);
  }

  /** Settles with the task's work, but rejects once the task has failed, or was revoked a while ago. */
  private settled(work: Promise<void> = Promise.resolve()): Promise<void> {
    return settleOrAbort(settleOrAbort(work, this.failing.signal), this.closing.signal, CLOSE_GRACE_MS);
  }

  /** Parts of several inputs are in memory, so nothing between them would wait for timers or I/O. */
  private async breathe(records: number): Promise<void> {
    this.recordsThisTurn += records;
    if (this.recordsThisTurn < RECORDS_PER_TURN) return;
    this.recordsThisTurn = 0;
    await nextTurn();
  }

  private context(failing: AbortController): TaskContext {
    const { member } = this.options;
    const { partition } = this;
    return {
      ...partition,
      leaseValid: () => member.leaseValid(),
      confirmOwnership: () => this.ownership.confirm(),
      committedOffset: (topic = partition.topic, options) => member.committed({ ...partition, topic }, options),
      commitOffset: (offset, metadata = '', topic = partition.topic, as = 'owner') =>
        this.ownership.commit({ ...partition, topic }, { offset, metadata }, as),
      fail: (error) => this.rebuild(error, failing),
      leaveOut: (error) => this.inputs.ofError(error)?.leaveOut(error) ?? Promise.resolve(null),
    };
  }

  private async closeTask(): Promise<void> {
    try {
      await this.task?.close();
    } catch (error) {
      this.options.logger.debug('task_close_failed', { error: errorMessage(error) });
    }
  }
}
