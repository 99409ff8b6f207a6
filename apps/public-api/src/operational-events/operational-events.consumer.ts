import { Controller, Inject, Injectable, Module } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { type AvroCodecs, consumerGroups } from '@waypost/contracts';
import { OperationalEventStore, SubscriptionStore } from '@waypost/management-store';
import {
  CLOCK,
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
import { OperationalEventsTask } from './operational-events.task.js';

const NAME = 'operational events';

@Injectable()
export class OperationalEventsTasks implements PartitionTaskFactory<OperationalEventsTask> {
  constructor(
    @Inject(STREAMS_BACKEND) private readonly backend: Pick<StreamsBackend, 'startOffset' | 'endOffset'>,
    @Inject(CODECS) private readonly codecs: Pick<AvroCodecs, 'webhookOperations'>,
    private readonly subscriptions: SubscriptionStore,
    private readonly events: OperationalEventStore,
    @Inject(LOGGER) private readonly logger: StreamsLogger,
    @Inject(CLOCK) private readonly now: () => number,
  ) {}

  create(context: TaskContext): OperationalEventsTask {
    const { backend, codecs, subscriptions, events, logger, now } = this;
    return new OperationalEventsTask(context, {
      codec: codecs.webhookOperations,
      subscriptions,
      events,
      backend,
      untilDatabaseAnswers: createUntilDatabaseAnswers({ logger, consumer: NAME }),
      logger,
      now,
    });
  }
}

/** Reads the operational events. HTTP answers while Kafka is unavailable. */
@Controller()
export class OperationalEventsConsumer {
  @PartitionConsumer({
    group: consumerGroups.subscriptionOperations,
    tasks: OperationalEventsTasks,
    whenUnavailable: 'retry',
  })
  keep(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext<OperationalEventsTask>): Promise<void> {
    return task.process(batch);
  }
}

/** Apart from the resource: it needs Kafka, and requests do not. */
@Module({ imports: [StreamsModule], controllers: [OperationalEventsConsumer], providers: [OperationalEventsTasks] })
export class OperationalEventsConsumerModule {}
