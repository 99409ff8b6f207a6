import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { ReplayProgressProjectionTaskFactory } from './replay-progress-projection.task-factory.js';

/** Reads the progress of replays. HTTP answers while Kafka is unavailable. */
@Controller()
export class ReplayProgressProjectionController {
  @PartitionConsumer({
    group: consumerGroups.replayProgress,
    tasks: ReplayProgressProjectionTaskFactory,
    whenUnavailable: 'retry',
  })
  record(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
