import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Registry } from 'prom-client';
import { type AvroCodecs, consumerGroups } from '@waypost/contracts';
import { DeliveryProjection, ProjectionProgress } from '@waypost/history-store';
import {
  CLOCK,
  CODECS,
  PartitionConsumer,
  PartitionContext,
  type PartitionTaskFactory,
  Quarantine,
  Traces,
} from '@waypost/platform';
import type { PartitionTask, RecordBatch, TaskContext } from '@waypost/streams';
import { createProjectorMetrics, type ProjectorMetrics } from '../projection/metrics.js';
import { PROJECTION_TOOLS, type ProjectionTaskTools } from '../projection/projection.task.js';
import { createAttemptsTask } from './attempts.task.js';

/** Folds `webhook.attempts` into the history of deliveries. */
@Controller()
export class AttemptsController implements PartitionTaskFactory {
  private readonly metrics: ProjectorMetrics;

  constructor(
    @Inject(PROJECTION_TOOLS) private readonly tools: ProjectionTaskTools,
    @Inject(CODECS) private readonly codecs: AvroCodecs,
    private readonly projection: DeliveryProjection,
    private readonly progress: ProjectionProgress,
    private readonly quarantine: Quarantine,
    @Inject(CLOCK) private readonly nowMs: () => number,
    private readonly traces: Traces,
    registry: Registry,
  ) {
    this.metrics = createProjectorMetrics(registry, nowMs);
  }

  create(context: TaskContext): PartitionTask {
    const { tools, projection, progress, metrics, quarantine, nowMs, traces } = this;
    const codec = this.codecs.webhookAttempts;
    return createAttemptsTask(context, { ...tools, codec, projection, progress, metrics, quarantine, nowMs, traces });
  }

  @PartitionConsumer({ group: consumerGroups.historyProjector, tasks: AttemptsController })
  project(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
