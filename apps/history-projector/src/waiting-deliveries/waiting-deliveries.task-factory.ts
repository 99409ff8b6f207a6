import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import { type AvroCodecs } from '@waypost/contracts';
import { WaitingProjection } from '@waypost/history-store';
import { CLOCK, CODECS, type PartitionTaskFactory } from '@waypost/platform';
import type { PartitionTask, TaskContext } from '@waypost/streams';
import { createWaitingMetrics, type WaitingMetrics } from '../projection/metrics.js';
import { PROJECTION_TOOLS, type ProjectionTaskTools } from '../projection/projection.task.js';
import { createWaitingDeliveriesTask } from './waiting-deliveries.task.js';

@Injectable()
export class WaitingDeliveriesTaskFactory implements PartitionTaskFactory {
  private readonly metrics: WaitingMetrics;

  constructor(
    @Inject(PROJECTION_TOOLS) private readonly tools: ProjectionTaskTools,
    @Inject(CODECS) private readonly codecs: AvroCodecs,
    private readonly projection: WaitingProjection,
    @Inject(CLOCK) private readonly nowMs: () => number,
    registry: Registry,
  ) {
    this.metrics = createWaitingMetrics(registry);
  }

  create(context: TaskContext): PartitionTask {
    const { tools, projection, metrics, nowMs } = this;
    return createWaitingDeliveriesTask(context, {
      ...tools,
      codec: this.codecs.webhookDeliveries,
      projection,
      metrics,
      nowMs,
    });
  }
}
