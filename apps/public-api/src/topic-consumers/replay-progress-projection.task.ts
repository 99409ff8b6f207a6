import { resolveBatch, type SubjectCodec } from '@waypost/contracts';
import type { ReplayProgress } from '@waypost/domain';
import type { ReplayStore } from '@waypost/management-store';
import { partitionName, type RecordBatch, type StreamsLogger, type TaskContext } from '@waypost/streams';
import { GroupOffsetProjectionTask, type ProjectionDeps } from './group-offset-projection.task.js';

export interface ReplayProgressProjectionDeps extends ProjectionDeps {
  readonly codec: SubjectCodec<ReplayProgress>;
  readonly replays: Pick<ReplayStore, 'recordProgress'>;
  readonly logger: Pick<StreamsLogger, 'error'>;
}

/** Records the progress of replays in one partition, for the API to list. */
export class ReplayProgressProjectionTask extends GroupOffsetProjectionTask {
  constructor(
    context: TaskContext,
    private readonly deps: ReplayProgressProjectionDeps,
  ) {
    super(context, deps);
  }

  protected async project(batch: RecordBatch): Promise<void> {
    const progress = await this.decode(batch);
    await this.retried(() => this.deps.replays.recordProgress(progress));
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
