import { resolveBatch, type SubjectCodec } from '@waypost/contracts';
import type { ReplayProgress } from '@waypost/domain';
import type { ManagementStore } from '@waypost/management-store';
import { partitionName, type PartitionTask, type RecordBatch, type TaskContext } from '@waypost/streams';
import type { ApiLogger } from '../dependencies.js';
import type { UntilDatabaseAnswers } from '../operations/until-database-answers.js';

export interface ReplayProgressTaskDeps {
  readonly codec: SubjectCodec<ReplayProgress>;
  readonly replays: Pick<ManagementStore['replays'], 'recordProgress'>;
  /** First and next offset of the log itself. */
  readonly logRange: (context: TaskContext) => Promise<{ readonly start: number; readonly end: number }>;
  readonly untilDatabaseAnswers: UntilDatabaseAnswers;
  readonly logger: Pick<ApiLogger, 'error'>;
}

/**
 * Copies one partition of the progress of replays into the database, where the API lists it. The group's offset is the
 * position; what comes again changes nothing, so any start before it will do.
 */
export function createReplayProgressTask(context: TaskContext, deps: ReplayProgressTaskDeps): PartitionTask {
  const giveUp = new AbortController();

  async function decodeAll(batch: RecordBatch): Promise<ReplayProgress[]> {
    await resolveBatch(deps.codec, batch.records);
    return batch.records.flatMap(({ offset, value }) => {
      // A tombstone: the replay was forgotten here first.
      if (value === null) return [];
      const decoded = deps.codec.decode(value);
      if (decoded.type === 'decoded') return [decoded.value];
      const place = { partition: partitionName(batch), offset };
      deps.logger.error('replay_progress_unusable', { ...place, detail: decoded.type });
      return [];
    });
  }

  return {
    async open() {
      const [committed, { start, end }] = await Promise.all([context.committedOffset(), deps.logRange(context)]);
      const inLog = committed !== null && committed.offset >= start && committed.offset <= end;
      const position = inLog ? committed.offset : start;
      if (!inLog) await context.commitOffset(position);
      return { position };
    },
    async process(batch) {
      const progress = await decodeAll(batch);
      await deps.untilDatabaseAnswers(() => deps.replays.recordProgress(progress), giveUp.signal);
      await context.commitOffset(batch.nextOffset);
    },
    revoke() {
      giveUp.abort();
    },
    close() {
      giveUp.abort();
      return Promise.resolve();
    },
  };
}
