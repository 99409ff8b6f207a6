import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups, topics } from '@waypost/contracts';
import { PartitionConsumer, PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { SENDER_COPARTITIONED, SenderTaskFactory } from './sender.task-factory.js';

/** Must exceed `closeGraceMs` and fit into the time that an application may take to stop. */
const STOP_TIMEOUT_MS = 6_300;

/** Sends the deliveries of webhook.deliveries, with one task per partition. */
@Controller()
export class SenderController {
  @PartitionConsumer({
    group: consumerGroups.sender,
    tasks: SenderTaskFactory,
    copartitioned: SENDER_COPARTITIONED,
    changelogs: [topics.subscriptionState.name],
    stopTimeoutMs: STOP_TIMEOUT_MS,
  })
  send(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
