import { Inject, Injectable } from '@nestjs/common';
import { type AvroCodecs } from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import { OperationalEventStore, SubscriptionStore } from '@waypost/management-store';
import { CLOCK, CODECS, LOGGER, type PartitionTaskFactory, STREAMS_BACKEND } from '@waypost/platform';
import type { StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import { OperationalEventsProjectionTask } from './operational-events-projection.task.js';

@Injectable()
export class OperationalEventsProjectionTaskFactory implements PartitionTaskFactory<OperationalEventsProjectionTask> {
  constructor(
    @Inject(STREAMS_BACKEND) private readonly backend: Pick<StreamsBackend, 'startOffset' | 'endOffset'>,
    @Inject(CODECS) private readonly codecs: Pick<AvroCodecs, 'webhookOperations'>,
    private readonly subscriptions: SubscriptionStore,
    private readonly events: OperationalEventStore,
    private readonly database: DatabaseRetry,
    @Inject(LOGGER) private readonly logger: StreamsLogger,
    @Inject(CLOCK) private readonly now: () => number,
  ) {}

  create(context: TaskContext): OperationalEventsProjectionTask {
    const { backend, codecs, subscriptions, events, database, logger, now } = this;
    return new OperationalEventsProjectionTask(context, {
      codec: codecs.webhookOperations,
      subscriptions,
      events,
      backend,
      database,
      logger,
      now,
    });
  }
}
