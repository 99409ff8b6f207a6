import { Inject, Injectable, Module, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type AvroCodecs, consumerGroups } from '@waypost/contracts';
import type { ManagementStore } from '@waypost/management-store';
import { createTaskManager, type StreamsBackend, type TaskContext } from '@waypost/streams';
import { MANAGEMENT_STORE } from '../database/database.module.js';
import { createUntilDatabaseAnswers } from '../database/until-database-answers.js';
import { AVRO_CODECS, INSTANCE_ID, STREAMS_BACKEND } from '../kafka/kafka.module.js';
import { createRetriedConsumer, type RetriedConsumer } from '../kafka/retried-consumer.js';
import { type ApiLogger, LOGGER } from '../runtime/runtime.module.js';
import { ReplayProgressTask } from './replay-progress.task.js';

const NAME = 'replay progress';

/** Reads the progress of replays. It never holds up the start: the API answers while Kafka is unavailable. */
@Injectable()
export class ReplayProgressConsumer implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly consumer: RetriedConsumer;

  constructor(
    @Inject(STREAMS_BACKEND) backend: StreamsBackend,
    @Inject(AVRO_CODECS) codecs: Pick<AvroCodecs, 'replayProgress'>,
    @Inject(MANAGEMENT_STORE) { replays }: Pick<ManagementStore, 'replays'>,
    @Inject(INSTANCE_ID) instanceId: string | undefined,
    @Inject(LOGGER) logger: ApiLogger,
  ) {
    const deps = {
      codec: codecs.replayProgress,
      replays,
      logRange: async (context: TaskContext) => {
        const [start, end] = await Promise.all([backend.startOffset(context), backend.endOffset(context)]);
        return { start, end };
      },
      untilDatabaseAnswers: createUntilDatabaseAnswers({ logger, consumer: NAME }),
      logger,
    };
    const { id: groupId, topics } = consumerGroups.replayProgress;
    const createTask = (context: TaskContext) => new ReplayProgressTask(context, deps);
    this.consumer = createRetriedConsumer({
      name: NAME,
      createMember: (onFatal) =>
        createTaskManager({ backend, groupId, topics, instanceId, createTask, logger, onFatal }),
      logger,
    });
  }

  onApplicationBootstrap(): void {
    this.consumer.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.consumer.stop();
  }
}

/** Apart from the resource: it needs Kafka, and requests do not. */
@Module({ providers: [ReplayProgressConsumer] })
export class ReplayProgressConsumerModule {}
