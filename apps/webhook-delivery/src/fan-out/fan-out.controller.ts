import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { FanOutTasks } from './fan-out-tasks.js';

@Controller()
export class FanOutController {
  @PartitionConsumer({ group: consumerGroups.fanOut, tasks: FanOutTasks })
  fanOut(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
