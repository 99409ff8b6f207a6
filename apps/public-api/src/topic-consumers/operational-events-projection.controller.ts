import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { OperationalEventsProjectionTaskFactory } from './operational-events-projection.task-factory.js';

/** Reads the operational events. HTTP answers while Kafka is unavailable. */
@Controller()
export class OperationalEventsProjectionController {
  @PartitionConsumer({
    group: consumerGroups.operationalEvents,
    tasks: OperationalEventsProjectionTaskFactory,
    whenUnavailable: 'retry',
  })
  keep(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
