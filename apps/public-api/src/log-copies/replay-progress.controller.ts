import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, type PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { ReplayProgressTask } from './replay-progress.task.js';
import { ReplayProgressTaskFactory } from './replay-progress.task-factory.js';

/** Reads the progress of replays. HTTP answers while Kafka is unavailable. */
@Controller()
export class ReplayProgressController {
  @PartitionConsumer({
    group: consumerGroups.replayProgress,
    tasks: ReplayProgressTaskFactory,
    whenUnavailable: 'retry',
  })
  record(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext<ReplayProgressTask>): Promise<void> {
    return task.process(batch);
  }
}
