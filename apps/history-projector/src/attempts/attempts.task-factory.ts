import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import type { AvroCodecs } from '@waypost/contracts';
import { DeliveryProjection, ProjectionProgress } from '@waypost/history-store';
import { CLOCK, CODECS, type PartitionTaskFactory, Quarantine, Traces } from '@waypost/platform';
import type { PartitionTask, TaskContext } from '@waypost/streams';
import { createProjectorMetrics } from '../projection/metrics.js';
import { ProjectionTools } from '../projection/projection-tools.js';
import { type AttemptsTaskDeps, createAttemptsTask } from './attempts.task.js';

@Injectable()
export class AttemptsTaskFactory implements PartitionTaskFactory {
  private readonly deps: AttemptsTaskDeps;

  constructor(
    tools: ProjectionTools,
    @Inject(CODECS) { webhookAttempts: codec }: Pick<AvroCodecs, 'webhookAttempts'>,
    projection: DeliveryProjection,
    progress: ProjectionProgress,
    quarantine: Quarantine,
    @Inject(CLOCK) nowMs: () => number,
    traces: Traces,
    registry: Registry,
  ) {
    const metrics = createProjectorMetrics(registry, nowMs);
    this.deps = { tools, codec, projection, progress, metrics, quarantine, nowMs, traces };
  }

  create(context: TaskContext): PartitionTask {
    return createAttemptsTask(context, this.deps);
  }
}
