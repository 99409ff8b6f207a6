import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { type AvroCodecs, consumerGroups } from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import { OperationalEventStore, SubscriptionStore } from '@waypost/management-store';
import {
  CLOCK,
  CODECS,
  LOGGER,
  PartitionConsumer,
  PartitionContext,
  type PartitionTaskFactory,
  STREAMS_BACKEND,
} from '@waypost/platform';
import type { PartitionTask, RecordBatch, StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import { OperationalEventsProjectionTask } from './operational-events-projection.task.js';

/** Reads the operational events. HTTP answers while Kafka is unavailable. */
@Controller()
export class OperationalEventsProjectionController implements PartitionTaskFactory {
  constructor(
    @Inject(STREAMS_BACKEND) private readonly backend: Pick<StreamsBackend, 'startOffset' | 'endOffset'>,
    @Inject(CODECS) private readonly codecs: Pick<AvroCodecs, 'webhookOperations'>,
    private readonly subscriptions: SubscriptionStore,
    private readonly events: OperationalEventStore,
    private readonly database: DatabaseRetry,
    @Inject(LOGGER) private readonly logger: StreamsLogger,
    @Inject(CLOCK) private readonly nowMs: () => number,
  ) {}

  create(context: TaskContext): PartitionTask {
    const { backend, codecs, subscriptions, events, database, logger, nowMs } = this;
    const codec = codecs.webhookOperations;
    const deps = { codec, subscriptions, events, backend, database, logger, nowMs };
    return new OperationalEventsProjectionTask(context, deps);
  }

  @PartitionConsumer({
    group: consumerGroups.operationalEvents,
    tasks: OperationalEventsProjectionController,
    whenUnavailable: 'retry',
  })
  keep(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
