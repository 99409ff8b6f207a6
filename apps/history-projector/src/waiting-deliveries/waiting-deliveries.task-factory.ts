import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import type { AvroCodecs } from '@waypost/contracts';
import { WaitingProjection } from '@waypost/history-store';
import { CLOCK, CODECS, type PartitionTaskFactory } from '@waypost/platform';
import type { PartitionTask, TaskContext } from '@waypost/streams';
import { createWaitingMetrics } from '../projection/metrics.js';
import { ProjectionTools } from '../projection/projection-tools.js';
import { createWaitingDeliveriesTask, type WaitingDeliveriesTaskDeps } from './waiting-deliveries.task.js';

@Injectable()
export class WaitingDeliveriesTaskFactory implements PartitionTaskFactory {
  private readonly deps: WaitingDeliveriesTaskDeps;

  constructor(
    tools: ProjectionTools,
    @Inject(CODECS) { webhookDeliveries: codec }: Pick<AvroCodecs, 'webhookDeliveries'>,
    projection: WaitingProjection,
    @Inject(CLOCK) nowMs: () => number,
    registry: Registry,
  ) {
    this.deps = { tools, codec, projection, metrics: createWaitingMetrics(registry), nowMs };
  }

  create(context: TaskContext): PartitionTask {
    return createWaitingDeliveriesTask(context, this.deps);
  }
}
