import { resolveBatch, type SubjectCodec } from '@waypost/contracts';
import type { ReplayProgress } from '@waypost/domain';
import type { ReplayStore } from '@waypost/management-store';
import { partitionName, type PartitionTask, type RecordBatch, type TaskContext } from '@waypost/streams';
import type { UntilDatabaseAnswers } from '../database/until-database-answers.js';
import type { ApiLogger } from '../runtime/runtime.module.js';

export interface ReplayProgressTaskDeps {
  readonly codec: SubjectCodec<ReplayProgress>;
  readonly replays: Pick<ReplayStore, 'recordProgress'>;
  /** First and next offset of the log itself. */
  readonly logRange: (context: TaskContext) => Promise<{ readonly start: number; readonly end: number }>;
  readonly untilDatabaseAnswers: UntilDatabaseAnswers;
  readonly logger: Pick<ApiLogger, 'error'>;
}

/**
 * Copies one partition of the progress of replays into the database, where the API lists it. The group's offset is the
 * position; records that come again change nothing, so any earlier start is fine.
 */
export class ReplayProgressTask implements PartitionTask {
  private readonly stopping = new AbortController();

  constructor(
    private readonly context: TaskContext,
    private readonly deps: ReplayProgressTaskDeps,
  ) {}

  async open(): Promise<{ position: number }> {
    const [committed, { start, end }] = await Promise.all([
      this.context.committedOffset(),
      this.deps.logRange(this.context),
    ]);
    const inLog = committed !== null && committed.offset >= start && committed.offset <= end;
    const position = inLog ? committed.offset : start;
    if (!inLog) await this.context.commitOffset(position);
    return { position };
  }

  async process(batch: RecordBatch): Promise<void> {
    const progress = await this.decode(batch);
    const { untilDatabaseAnswers, replays } = this.deps;
    await untilDatabaseAnswers(() => replays.recordProgress(progress), this.stopping.signal);
    await this.context.commitOffset(batch.nextOffset);
  }

  revoke(): void {
    this.stopping.abort();
  }

  close(): Promise<void> {
    this.stopping.abort();
    return Promise.resolve();
  }

  private async decode(batch: RecordBatch): Promise<ReplayProgress[]> {
    const { codec, logger } = this.deps;
    await resolveBatch(codec, batch.records);
    return batch.records.flatMap(({ offset, value }) => {
      // A tombstone: the replay was forgotten here first.
      if (value === null) return [];
      const decoded = codec.decode(value);
      if (decoded.type === 'decoded') return [decoded.value];
      logger.error('replay_progress_unusable', { partition: partitionName(batch), offset, detail: decoded.type });
      return [];
    });
  }
}
