import { Inject, Injectable } from '@nestjs/common';
import type { AvroCodecs } from '@waypost/contracts';
import { DatabaseRetry } from '@waypost/database';
import { OperationalEventStore, SubscriptionStore } from '@waypost/management-store';
import { CLOCK, CODECS, LOGGER, type PartitionTaskFactory, STREAMS_BACKEND } from '@waypost/platform';
import type { PartitionTask, StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import {
  type OperationalEventsProjectionDeps,
  OperationalEventsProjectionTask,
} from './operational-events-projection.task.js';

@Injectable()
export class OperationalEventsProjectionTaskFactory implements PartitionTaskFactory {
  private readonly deps: OperationalEventsProjectionDeps;

  constructor(
    @Inject(STREAMS_BACKEND) backend: Pick<StreamsBackend, 'startOffset' | 'endOffset'>,
    @Inject(CODECS) { webhookOperations: codec }: Pick<AvroCodecs, 'webhookOperations'>,
    subscriptions: SubscriptionStore,
    events: OperationalEventStore,
    database: DatabaseRetry,
    @Inject(LOGGER) logger: StreamsLogger,
    @Inject(CLOCK) nowMs: () => number,
  ) {
    this.deps = { backend, codec, subscriptions, events, database, logger, nowMs };
  }

  create(context: TaskContext): PartitionTask {
    return new OperationalEventsProjectionTask(context, this.deps);
  }
}
