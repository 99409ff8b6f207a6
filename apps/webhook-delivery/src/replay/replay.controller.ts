import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { REPLAYER_COPARTITIONED, ReplayTasks } from './replay-tasks.js';

@Controller()
export class ReplayController {
  @PartitionConsumer({
    group: consumerGroups.replayer,
    tasks: ReplayTasks,
    copartitioned: REPLAYER_COPARTITIONED,
  })
  take(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
