import { Controller, Inject, Injectable, Module } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { type AvroCodecs, consumerGroups } from '@waypost/contracts';
import { ReplayStore } from '@waypost/management-store';
import {
  CODECS,
  LOGGER,
  PartitionConsumer,
  type PartitionContext,
  type PartitionTaskFactory,
  STREAMS_BACKEND,
  StreamsModule,
} from '@waypost/platform';
import type { RecordBatch, StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import { createUntilDatabaseAnswers } from '../database/until-database-answers.js';
import { ReplayProgressTask } from './replay-progress.task.js';

const NAME = 'replay progress';

@Injectable()
export class ReplayProgressTasks implements PartitionTaskFactory<ReplayProgressTask> {
  constructor(
    @Inject(STREAMS_BACKEND) private readonly backend: Pick<StreamsBackend, 'startOffset' | 'endOffset'>,
    @Inject(CODECS) private readonly codecs: Pick<AvroCodecs, 'replayProgress'>,
    private readonly replays: ReplayStore,
    @Inject(LOGGER) private readonly logger: StreamsLogger,
  ) {}

  create(context: TaskContext): ReplayProgressTask {
    const { backend, codecs, replays, logger } = this;
    return new ReplayProgressTask(context, {
      codec: codecs.replayProgress,
      replays,
      backend,
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
