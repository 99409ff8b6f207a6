import { Controller, Inject, Injectable, Module } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { type AvroCodecs, consumerGroups } from '@waypost/contracts';
import type { ManagementStore } from '@waypost/management-store';
import {
  PartitionConsumer,
  type PartitionContext,
  type PartitionTaskFactory,
  STREAMS_BACKEND,
  StreamsModule,
} from '@waypost/platform';
import type { RecordBatch, StreamsBackend, TaskContext } from '@waypost/streams';
import { MANAGEMENT_STORE } from '../database/database.module.js';
import { createUntilDatabaseAnswers } from '../database/until-database-answers.js';
import { AVRO_CODECS } from '../kafka/kafka.module.js';
import { type ApiLogger, LOGGER } from '../runtime/runtime.module.js';
import { ReplayProgressTask } from './replay-progress.task.js';

const NAME = 'replay progress';

@Injectable()
export class ReplayProgressTasks implements PartitionTaskFactory<ReplayProgressTask> {
  constructor(
    @Inject(STREAMS_BACKEND) private readonly backend: Pick<StreamsBackend, 'startOffset' | 'endOffset'>,
    @Inject(AVRO_CODECS) private readonly codecs: Pick<AvroCodecs, 'replayProgress'>,
    @Inject(MANAGEMENT_STORE) private readonly store: Pick<ManagementStore, 'replays'>,
    @Inject(LOGGER) private readonly logger: ApiLogger,
  ) {}

  create(context: TaskContext): ReplayProgressTask {
    const { backend, codecs, store, logger } = this;
    return new ReplayProgressTask(context, {
      codec: codecs.replayProgress,
      replays: store.replays,
      logRange: async (partition) => {
        const [start, end] = await Promise.all([backend.startOffset(partition), backend.endOffset(partition)]);
        return { start, end };
      },
      untilDatabaseAnswers: createUntilDatabaseAnswers({ logger, consumer: NAME }),
      logger,
    });
  }
}

/** Reads the progress of replays. HTTP answers while Kafka is unavailable. */
@Controller()
export class ReplayProgressConsumer {
  @PartitionConsumer({ group: consumerGroups.replayProgress, tasks: ReplayProgressTasks, whenUnavailable: 'retry' })
  record(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext<ReplayProgressTask>): Promise<void> {
    return task.process(batch);
  }
}

/** Apart from the resource: it needs Kafka, and requests do not. */
@Module({ imports: [StreamsModule], controllers: [ReplayProgressConsumer], providers: [ReplayProgressTasks] })
export class ReplayProgressConsumerModule {}
