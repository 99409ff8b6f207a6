import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { SENDER_COPARTITIONED, SenderTasks } from './sender-tasks.js';

/** Above `closeGraceMs`, and within the time that an application may take to stop. */
const STOP_TIMEOUT_MS = 6_300;

@Controller()
export class SenderController {
  @PartitionConsumer({
    group: consumerGroups.sender,
    tasks: SenderTasks,
    copartitioned: SENDER_COPARTITIONED,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
  send(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
