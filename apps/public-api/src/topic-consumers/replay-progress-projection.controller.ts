import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { type AvroCodecs, consumerGroups } from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import { ReplayStore } from '@waypost/management-store';
import {
  CODECS,
  LOGGER,
  PartitionConsumer,
  PartitionContext,
  type PartitionTaskFactory,
  STREAMS_BACKEND,
} from '@waypost/platform';
import type { PartitionTask, RecordBatch, StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import { ReplayProgressProjectionTask } from './replay-progress-projection.task.js';

/** Reads the progress of replays. HTTP answers while Kafka is unavailable. */
@Controller()
export class ReplayProgressProjectionController implements PartitionTaskFactory {
  constructor(
    @Inject(STREAMS_BACKEND) private readonly backend: Pick<StreamsBackend, 'startOffset' | 'endOffset'>,
    @Inject(CODECS) private readonly codecs: Pick<AvroCodecs, 'replayProgress'>,
    private readonly replays: ReplayStore,
    private readonly database: DatabaseRetry,
    @Inject(LOGGER) private readonly logger: StreamsLogger,
  ) {}

  create(context: TaskContext): PartitionTask {
    const { backend, codecs, replays, database, logger } = this;
    const codec = codecs.replayProgress;
    return new ReplayProgressProjectionTask(context, { codec, replays, backend, database, logger });
  }

  @PartitionConsumer({
    group: consumerGroups.replayProgress,
    tasks: ReplayProgressProjectionController,
    whenUnavailable: 'retry',
  })
  record(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
