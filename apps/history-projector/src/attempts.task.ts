import type { SubjectCodec } from '@waypost/contracts';
import type { WebhookAttempt } from '@waypost/domain';
import type { ApplyResult, DeliveryProjection } from '@waypost/history-store';
import type { Logger } from '@waypost/platform';
import { partitionName, type PartitionTask, type RecordBatch, type TaskContext } from '@waypost/streams';
import type { DatabaseRetry } from './database-retry.js';
import { decodeAttempts } from './decode-attempts.js';
import type { ProjectorMetrics } from './projector-metrics.js';

export interface AttemptsTaskDeps {
  readonly codec: SubjectCodec<WebhookAttempt>;
  readonly projection: DeliveryProjection;
  readonly database: DatabaseRetry;
  /** First and next offset of the log itself. */
  readonly logRange: (context: TaskContext) => Promise<{ readonly start: number; readonly end: number }>;
  readonly metrics: ProjectorMetrics;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Resolves after the time or when the signal is aborted, whichever is first. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Ends the process: going on would leave something out of the history. */
  readonly onFatal: (error: Error) => void;
}

/**
 * Transactions of a partition begin this far apart, unless it is behind. What comes meanwhile shares one, which costs about
 * as much for one attempt as for a hundred; and the first attempt after a quiet time waits for nothing.
 */
const PACE_MS = 200;

/** With so many attempts in one transaction the flow is fast, and its history may be half a second old. */
const FAST_FLOW_ATTEMPTS = 20;
const FAST_FLOW_PACE_MS = 500;

/** Fetching takes longer. A batch that came sooner lay ready: it is a turn old, and more has come since. */
const AT_ONCE_MS = 1;

/** What is left of a log that is read as fast as it is written: records of open transactions, and of the last moment. */
const KEEPING_UP_RECORDS = 1_000;

/**
 * Projects one partition of the attempts log. The position is the one in the database, written together with the rows;
 * the group's offset follows it, and only shows the lag.
 */
export const createAttemptsTask = (context: TaskContext, deps: AttemptsTaskDeps): PartitionTask =>
  new AttemptsTask(context, deps);

/** What was read since the last transaction. */
interface Unwritten {
  readonly attempts: readonly WebhookAttempt[];
  /** The position behind it. */
  readonly nextOffset: number;
  readonly lag: number;
}

class AttemptsTask implements PartitionTask {
  private readonly giveUp = new AbortController();
  /** As the database has it; null: nothing was ever projected. */
  private position: number | null = null;
  private unwritten: Unwritten | null = null;
  private turnEndedAt = -Infinity;

  constructor(
    private readonly context: TaskContext,
    private readonly deps: AttemptsTaskDeps,
  ) {}

  async open(): Promise<{ position: number }> {
    const { database, projection, metrics } = this.deps;
    const { topic, partition } = this.context;
    this.position = await database.run(() => projection.readPosition(topic, partition), this.giveUp.signal);
    const { start, end } = await this.deps.logRange(this.context);
    const position = this.startIn(start, end);
    // A predecessor may have died between the two commits, and there may never be another record to bring them together.
    await this.context.commitOffset(position);
    metrics.lagMeasured(partition, end - position);
    return { position };
  }

  async process(batch: RecordBatch): Promise<void> {
    const startedAt = this.deps.now();
    const lag = Math.max(0, batch.highWatermark - batch.nextOffset);
    const keepsUp = lag <= KEEPING_UP_RECORDS;
    const before = this.unwritten;
    const attempts = (before?.attempts ?? []).concat(await this.decode(batch));
    const unwritten = { attempts, nextOffset: batch.nextOffset, lag };
    this.unwritten = unwritten;
    if (keepsUp && before === null && startedAt - this.turnEndedAt < AT_ONCE_MS) return;
    await this.write(unwritten, startedAt);
    if (keepsUp) await this.until(startedAt + (attempts.length > FAST_FLOW_ATTEMPTS ? FAST_FLOW_PACE_MS : PACE_MS));
    this.turnEndedAt = this.deps.now();
  }

  async idle(): Promise<void> {
    if (this.unwritten !== null) await this.write(this.unwritten, this.deps.now());
  }

  interrupt(): void {
    this.giveUp.abort();
  }

  close(): Promise<void> {
    this.giveUp.abort();
    this.deps.metrics.partitionClosed(this.context.partition);
    return Promise.resolve();
  }

  private async decode(batch: RecordBatch): Promise<readonly WebhookAttempt[]> {
    const decoded = await decodeAttempts(batch, this.deps.codec);
    if (decoded.type === 'undecodable') throw this.fatal(`${decoded.where} holds no attempt: ${decoded.detail}.`);
    return decoded.attempts;
  }

  private async write({ attempts, nextOffset, lag }: Unwritten, startedAt: number): Promise<void> {
    const result = await this.apply(nextOffset, attempts);
    if (result.type === 'superseded') {
      // Thrown, so that the task is rebuilt and goes on from the stored position.
      throw new Error(`Another projector moved ${partitionName(this.context)} to ${String(result.storedOffset)}.`);
    }
    this.position = nextOffset;
    this.unwritten = null;
    if (result.type === 'applied') {
      const durationMs = this.deps.now() - startedAt;
      this.deps.metrics.batchApplied({ attempts: attempts.length, durationMs, result });
    }
    await this.context.commitOffset(nextOffset);
    this.deps.metrics.lagMeasured(this.context.partition, lag);
  }

  private apply(
    nextOffset: number,
    attempts: readonly WebhookAttempt[],
  ): Promise<ApplyResult | { readonly type: 'applied_before' }> {
    const { projection, database } = this.deps;
    const { topic, partition } = this.context;
    let tries = 0;
    return database.run(async () => {
      tries += 1;
      const result = await projection.apply({ topic, partition, expectedOffset: this.position, nextOffset, attempts });
      // The connection may have broken after the commit that it was to confirm.
      const wasOurs = result.type === 'superseded' && tries > 1 && result.storedOffset === nextOffset;
      return wasOurs ? { type: 'applied_before' as const } : result;
    }, this.giveUp.signal);
  }

  private async until(moment: number): Promise<void> {
    const waitMs = moment - this.deps.now();
    if (waitMs > 0) await this.deps.wait(waitMs, this.giveUp.signal);
  }

  /** Where reading starts. What the log has lost meanwhile is older than the history keeps anyway. */
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
      this.deps.logger.warn('log_expired_unprojected', { partition: name, from: position, to: start });
    }
    return Math.max(position, start);
  }

  private fatal(message: string): Error {
    const error = new Error(message);
    this.deps.onFatal(error);
    return error;
  }
}
