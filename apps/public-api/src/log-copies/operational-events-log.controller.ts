import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, type PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { OperationalEventsTask } from './operational-events-log.task.js';
import { OperationalEventsTaskFactory } from './operational-events-log.task-factory.js';

/** Reads the operational events. HTTP answers while Kafka is unavailable. */
@Controller()
export class OperationalEventsLogController {
  @PartitionConsumer({
    group: consumerGroups.subscriptionOperations,
    tasks: OperationalEventsTaskFactory,
    whenUnavailable: 'retry',
  })
  keep(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext<OperationalEventsTask>): Promise<void> {
    return task.process(batch);
  }
}
