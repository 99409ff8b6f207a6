import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { WaitingDeliveriesTaskFactory } from './waiting-deliveries.task-factory.js';

/** Finds deliveries in `webhook.deliveries` that wait for their first attempt. */
@Controller()
export class WaitingDeliveriesController {
  @PartitionConsumer({ group: consumerGroups.waitingProjector, tasks: WaitingDeliveriesTaskFactory })
  project(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
