import { Inject, Injectable } from '@nestjs/common';
import { type AvroCodecs } from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import { ReplayStore } from '@waypost/management-store';
import { CODECS, LOGGER, type PartitionTaskFactory, STREAMS_BACKEND } from '@waypost/platform';
import type { StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import { ReplayProgressProjectionTask } from './replay-progress-projection.task.js';

@Injectable()
export class ReplayProgressProjectionTaskFactory implements PartitionTaskFactory<ReplayProgressProjectionTask> {
  constructor(
    @Inject(STREAMS_BACKEND) private readonly backend: Pick<StreamsBackend, 'startOffset' | 'endOffset'>,
    @Inject(CODECS) private readonly codecs: Pick<AvroCodecs, 'replayProgress'>,
    private readonly replays: ReplayStore,
    private readonly database: DatabaseRetry,
    @Inject(LOGGER) private readonly logger: StreamsLogger,
  ) {}

  create(context: TaskContext): ReplayProgressProjectionTask {
    const { backend, codecs, replays, database, logger } = this;
    return new ReplayProgressProjectionTask(context, {
      codec: codecs.replayProgress,
      replays,
      backend,
      database,
      logger,
    });
  }
}
