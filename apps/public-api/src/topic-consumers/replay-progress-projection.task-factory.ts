import { Inject, Injectable } from '@nestjs/common';
import type { AvroCodecs } from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import { ReplayStore } from '@waypost/management-store';
import { CODECS, LOGGER, type PartitionTaskFactory, STREAMS_BACKEND } from '@waypost/platform';
import type { PartitionTask, StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import { type ReplayProgressProjectionDeps, ReplayProgressProjectionTask } from './replay-progress-projection.task.js';

@Injectable()
export class ReplayProgressProjectionTaskFactory implements PartitionTaskFactory {
  private readonly deps: ReplayProgressProjectionDeps;

  constructor(
    @Inject(STREAMS_BACKEND) backend: Pick<StreamsBackend, 'startOffset' | 'endOffset'>,
    @Inject(CODECS) { replayProgress: codec }: Pick<AvroCodecs, 'replayProgress'>,
    replays: ReplayStore,
    database: DatabaseRetry,
    @Inject(LOGGER) logger: StreamsLogger,
  ) {
    this.deps = { backend, codec, replays, database, logger };
  }

  create(context: TaskContext): PartitionTask {
    return new ReplayProgressProjectionTask(context, this.deps);
  }
}
