import type { DatabaseRetry } from '@waypost/database';
import type { PositionMove, ProjectionProgress, Superseded } from '@waypost/history-store';
import type { Logger } from '@waypost/platform';
import { partitionName, type PartitionTask, type RecordBatch, type TaskContext } from '@waypost/streams';

/** The result of writing a batch that all projections share; some add more for metrics. */
interface AnyApplied {
  readonly type: 'applied';
}

/** A run of one partition, in log order. */
export interface ProjectedBatch<Item> extends PositionMove {
  readonly items: readonly Item[];
}

/** For projections that report until when they are complete. */
export interface TaskProgress extends Pick<ProjectionProgress, 'caughtUp'> {
  begin(): Promise<void>;
  /** Epoch milliseconds. */
  readonly nowMs: () => number;
}

export interface Projection<Item, Applied extends AnyApplied> {
  readPosition(topic: string, partition: number): Promise<number | null>;
  /** The batch and its position become visible together, or neither does. */
  apply(batch: ProjectedBatch<Item>): Promise<Applied | Superseded>;
}

export interface ProjectionTaskMetrics<Applied> {
  batchApplied(batch: { items: number; durationMs: number; result: Applied }): void;
  lagMeasured(partition: number, records: number): void;
  partitionClosed(partition: number): void;
  /** `loggedAt` is the time of the first record, epoch ms. */
  batchRead?(partition: number, loggedAt: number): void;
  /** Everything that was read is written. */
  batchWritten?(partition: number): void;
}

/** What the projections of a process share. */
export interface ProjectionTaskTools {
  readonly database: DatabaseRetry;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Monotonic milliseconds. */
  readonly monotonicMs: () => number;
  /** Resolves after the time or when the signal is aborted, whichever comes first. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Ends the process: continuing would leave a gap in the history. */
  readonly onFatal: (error: Error) => void;
  /** The first and next offset of the log itself. */
  logRange(context: TaskContext): Promise<{ readonly start: number; readonly end: number }>;
  /** Whether it is the topic that the history was filled from, and not another one of that name. */
  isSameTopic(topic: string): Promise<boolean>;
  /** null: no such topic. */
  partitionCount(topic: string): Promise<number | null>;
}

export interface ProjectionTaskDeps<Item, Applied extends AnyApplied> {
  readonly tools: ProjectionTaskTools;
  /** Returns the items of a batch to project. A rejection is retried from the stored position. */
  readonly decode: (batch: RecordBatch, signal: AbortSignal) => Promise<readonly Item[]>;
  readonly projection: Projection<Item, Applied>;
  readonly metrics: ProjectionTaskMetrics<Applied>;
  readonly progress?: TaskProgress | undefined;
}

/**
 * The minimum time between transactions of a partition that is not behind. Records that arrive in the meantime share
 * one, which costs about as much for one attempt as for a hundred; the first attempt after a pause is written at once.
 */
const PACE_MS = 200;

/** From this many attempts per transaction on, the history may be half a second old. */
const FAST_FLOW_ITEMS = 20;
const FAST_FLOW_PACE_MS = 500;

/** Shorter than any real fetch: a faster batch came from the buffer, so more records have arrived since. */
const AT_ONCE_MS = 1;

/** The lag of a reader that keeps up: records of open transactions and of the last moment. */
const KEEPING_UP_RECORDS = 1_000;

/**
 * Projects one partition of a log. The position is the one in the database, written together with the rows; the group's
 * offset follows it, and only shows the lag.
 */
export function createProjectionTask<Item, Applied extends AnyApplied>(
  context: TaskContext,
  deps: ProjectionTaskDeps<Item, Applied>,
): PartitionTask {
  return new ProjectionTask(context, deps);
}

/** How often a task without input checks that its position is still the stored one. */
const CHECK_EVERY_MS = 1_000;

/** Items read since the last transaction. */
interface Unwritten<Item> {
  readonly items: readonly Item[];
  /** The position after it. */
  readonly nextOffset: number;
  readonly lag: number;
  /** When the last record was logged; undefined: no record. */
  readonly loggedAt: number | undefined;
}

class ProjectionTask<Item, Applied extends AnyApplied> implements PartitionTask {
  private readonly abandoned = new AbortController();
  /** The position in the database; null: nothing was ever projected. */
  private position: number | null = null;
  private unwritten: Unwritten<Item> | null = null;
  private transactionEndedMs = -Infinity;
  private checkedMs = -Infinity;

  constructor(
    private readonly context: TaskContext,
    private readonly deps: ProjectionTaskDeps<Item, Applied>,
  ) {}

  async open(): Promise<{ position: number }> {
    const { tools, projection, metrics, progress } = this.deps;
    const { database } = tools;
    const { topic, partition } = this.context;
    if (progress !== undefined) await database.run(() => progress.begin(), this.abandoned.signal);
    this.position = await database.run(() => projection.readPosition(topic, partition), this.abandoned.signal);
    const isSameTopic = await database.run(() => tools.isSameTopic(topic), this.abandoned.signal);
    if (!isSameTopic) throw this.fatal(otherTopic(topic));
    const { start, end } = await tools.logRange(this.context);
    const position = this.startIn(start, end);
    // A predecessor may have died between the two commits, and no further record may come to reconcile them.
    await this.context.commitOffset(position);
    metrics.lagMeasured(partition, end - position);
    return { position };
  }

  async process(batch: RecordBatch): Promise<void> {
    const startedMs = this.deps.tools.monotonicMs();
    const lag = Math.max(0, batch.highWatermark - batch.nextOffset);
    const first = batch.records[0];
    if (first !== undefined) this.deps.metrics.batchRead?.(this.context.partition, first.timestamp);
    const keepsUp = lag <= KEEPING_UP_RECORDS;
    const before = this.unwritten;
    const items = (before?.items ?? []).concat(await this.deps.decode(batch, this.abandoned.signal));
    const loggedAt = batch.records.at(-1)?.timestamp ?? before?.loggedAt;
    const unwritten = { items, nextOffset: batch.nextOffset, lag, loggedAt };
    this.unwritten = unwritten;
    if (keepsUp && before === null && startedMs - this.transactionEndedMs < AT_ONCE_MS) return;
    await this.write(unwritten, startedMs);
    if (keepsUp) await this.until(startedMs + (items.length > FAST_FLOW_ITEMS ? FAST_FLOW_PACE_MS : PACE_MS));
    this.transactionEndedMs = this.deps.tools.monotonicMs();
  }

  async idle(): Promise<void> {
    if (this.unwritten !== null) await this.write(this.unwritten, this.deps.tools.monotonicMs());
    else if (this.deps.tools.monotonicMs() - this.checkedMs >= CHECK_EVERY_MS) await this.look();
  }

  revoke(): void {
    this.abandoned.abort();
  }

  close(): Promise<void> {
    this.abandoned.abort();
    this.deps.metrics.partitionClosed(this.context.partition);
    return Promise.resolve();
  }

  private async write(unwritten: Unwritten<Item>, startedMs: number): Promise<void> {
    const { items, nextOffset, lag } = unwritten;
    const result = await this.apply(unwritten);
    if (result.type === 'superseded') throw this.superseded(result.storedOffset);
    this.position = nextOffset;
    this.unwritten = null;
    this.deps.metrics.batchWritten?.(this.context.partition);
    if (result.type === 'applied') {
      const durationMs = this.deps.tools.monotonicMs() - startedMs;
      this.deps.metrics.batchApplied({ items: items.length, durationMs, result });
    }
    await this.context.commitOffset(nextOffset);
    this.deps.metrics.lagMeasured(this.context.partition, lag);
  }

  /**
   * Finds out that the position has moved, by a rebuild, or back by a server that crashed and lost its last commits
   * (they do not wait for the disk). Without this only the next attempt would show it.
   */
  private async look(): Promise<void> {
    const { projection, tools } = this.deps;
    const { topic, partition } = this.context;
    const stored = await tools.database.run(() => projection.readPosition(topic, partition), this.abandoned.signal);
    if (stored !== this.position) throw this.superseded(stored);
    await this.reportProgress();
    this.checkedMs = this.deps.tools.monotonicMs();
  }

  /** Without this an idle partition would seem to be behind. */
  private async reportProgress(): Promise<void> {
    const { progress, tools } = this.deps;
    if (progress === undefined) return;
    const { topic, partition } = this.context;
    // Taken before the end is read: records logged later may be past that end.
    const completeUntil = progress.nowMs();
    const { start, end } = await tools.logRange(this.context);
    const expectedOffset = this.position;
    // The log may have lost what follows the position, and have nothing else.
    if (Math.max(expectedOffset ?? start, start) < end) return;
    const mark = { topic, partition, expectedOffset, completeUntil };
    await tools.database.run(() => progress.caughtUp(mark), this.abandoned.signal);
  }

  /** Returns the error that rebuilds the task, which then continues from the stored position. */
  private superseded(storedOffset: number | null): Error {
    const [stored, known] = [storedOffset, this.position].map((offset) => (offset === null ? 'none' : String(offset)));
    const name = partitionName(this.context);
    return new Error(
      `The stored position of ${name} is ${String(stored)} and not ${String(known)}: it was moved in the meantime.`,
    );
  }

  private apply({
    items,
    nextOffset,
    loggedAt,
  }: Unwritten<Item>): Promise<Applied | Superseded | { readonly type: 'applied_before' }> {
    const { projection, tools, progress } = this.deps;
    const { topic, partition } = this.context;
    const completeUntil = progress === undefined ? {} : { completeUntil: loggedAt };
    let tries = 0;
    return tools.database.run(async () => {
      tries += 1;
      const batch = { topic, partition, expectedOffset: this.position, nextOffset, items, ...completeUntil };
      const result = await projection.apply(batch);
      // The connection may have broken after the commit that it should have confirmed.
      const wasOurs = result.type === 'superseded' && tries > 1 && result.storedOffset === nextOffset;
      return wasOurs ? { type: 'applied_before' as const } : result;
    }, this.abandoned.signal);
  }

  private async until(moment: number): Promise<void> {
    const waitMs = moment - this.deps.tools.monotonicMs();
    if (waitMs > 0) await this.deps.tools.wait(waitMs, this.abandoned.signal);
  }

  /** Where reading starts. Records that the log has lost are older than the history keeps anyway. */
  private startIn(start: number, end: number): number {
    const name = partitionName(this.context);
    const { position } = this;
    if (position === null) return start;
    if (position > end) {
      throw this.fatal(
        `The database is projected up to offset ${String(position)} of ${name}, but the log ends at ${String(end)}: it ` +
          'belongs to another log. Start with the log that it was filled from, or with an empty database.',
      );
    }
    if (position < start) {
      this.deps.tools.logger.warn('log_expired_unprojected', { partition: name, from: position, to: start });
    }
    return Math.max(position, start);
  }

  private fatal(message: string): Error {
    const error = new Error(message);
    this.deps.tools.onFatal(error);
    return error;
  }
}

function otherTopic(topic: string): string {
  return (
    `The topic ${topic} was deleted and recreated after the history was filled from it, so the stored positions are ` +
    'invalid. Start with the original topic, or empty the history with "waypost rebuild --yes".'
  );
}
