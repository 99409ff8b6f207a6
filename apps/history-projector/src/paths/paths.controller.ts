import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { consumerGroups } from '@waypost/contracts';
import { PartitionConsumer, PartitionContext } from '@waypost/platform';
import type { RecordBatch } from '@waypost/streams';
import { PathTasks } from './path-tasks.js';

/** Keeps the accepted pings of `telemetry.pings` as paths. */
@Controller()
export class PathsController {
  @PartitionConsumer({ group: consumerGroups.pathProjector, tasks: PathTasks })
  project(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
