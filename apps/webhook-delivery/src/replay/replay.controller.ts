import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups, topics } from '@waypost/contracts';
import { PartitionConsumer, PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { REPLAYER_COPARTITIONED, ReplayTaskFactory } from './replay.task-factory.js';

/** Runs the replays that webhook.replays asks for. */
@Controller()
export class ReplayController {
  @PartitionConsumer({
    group: consumerGroups.replayer,
    tasks: ReplayTaskFactory,
    copartitioned: REPLAYER_COPARTITIONED,
    changelogs: [topics.replayProgress.name],
  })
  take(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
