import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, type PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { OperationalEventsProjectionTask } from './operational-events-projection.task.js';
import { OperationalEventsProjectionTaskFactory } from './operational-events-projection.task-factory.js';

/** Reads the operational events. HTTP answers while Kafka is unavailable. */
@Controller()
export class OperationalEventsProjectionController {
  @PartitionConsumer({
    group: consumerGroups.operationalEvents,
    tasks: OperationalEventsProjectionTaskFactory,
    whenUnavailable: 'retry',
  })
  keep(
    @Payload() batch: RecordBatch,
    @Ctx() { task }: PartitionContext<OperationalEventsProjectionTask>,
  ): Promise<void> {
    return task.process(batch);
  }
}
