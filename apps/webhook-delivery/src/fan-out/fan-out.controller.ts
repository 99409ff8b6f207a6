import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { FanOutTaskFactory } from './fan-out.task-factory.js';

/** Makes the deliveries of each record of fleet.events. */
@Controller()
export class FanOutController {
  @PartitionConsumer({ group: consumerGroups.fanOut, tasks: FanOutTaskFactory })
  fanOut(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
