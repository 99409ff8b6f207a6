import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Registry } from 'prom-client';
import { type AvroCodecs, consumerGroups } from '@waypost/contracts';
import { WaitingProjection } from '@waypost/history-store';
import { CLOCK, CODECS, PartitionConsumer, PartitionContext, type PartitionTaskFactory } from '@waypost/platform';
import type { PartitionTask, RecordBatch, TaskContext } from '@waypost/streams';
import { createWaitingMetrics, type WaitingMetrics } from '../projection/metrics.js';
import { PROJECTION_TOOLS, type ProjectionTaskTools } from '../projection/projection.task.js';
import { createWaitingDeliveriesTask } from './waiting-deliveries.task.js';

/** Finds deliveries in `webhook.deliveries` that wait for their first attempt. */
@Controller()
export class WaitingDeliveriesController implements PartitionTaskFactory {
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

  @PartitionConsumer({ group: consumerGroups.waitingProjector, tasks: WaitingDeliveriesController })
  project(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
