import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { AttemptsTaskFactory } from './attempts.task-factory.js';

/** Folds `webhook.attempts` into the history of deliveries. */
@Controller()
export class AttemptsController {
  @PartitionConsumer({ group: consumerGroups.historyProjector, tasks: AttemptsTaskFactory })
  project(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
