import { Inject, Injectable } from '@nestjs/common';
import { type AvroCodecs } from '@waypost/contracts';
import type { DeliveryProjection, ProjectionProgress } from '@waypost/history-store';
import { CLOCK, CODECS, type PartitionTaskFactory, Quarantine, TRACES, type Traces } from '@waypost/platform';
import { type PartitionTask, type TaskContext } from '@waypost/streams';
import type { ProjectorMetrics } from '../projection/metrics.js';
import { PROJECTION_TOOLS, type ProjectionTaskTools } from '../projection/projection.task.js';
import { createAttemptsTask } from './attempts.task.js';

/** DeliveryProjection */
export const DELIVERY_PROJECTION = Symbol('DELIVERY_PROJECTION');
/** ProjectionProgress */
export const PROJECTION_PROGRESS = Symbol('PROJECTION_PROGRESS');
/** ProjectorMetrics */
export const PROJECTOR_METRICS = Symbol('PROJECTOR_METRICS');

@Injectable()
export class AttemptTasks implements PartitionTaskFactory {
  constructor(
    @Inject(PROJECTION_TOOLS) private readonly tools: ProjectionTaskTools,
    @Inject(CODECS) private readonly codecs: AvroCodecs,
    @Inject(DELIVERY_PROJECTION) private readonly projection: DeliveryProjection,
    @Inject(PROJECTION_PROGRESS) private readonly progress: ProjectionProgress,
    @Inject(PROJECTOR_METRICS) private readonly metrics: ProjectorMetrics,
    private readonly quarantine: Quarantine,
    @Inject(CLOCK) private readonly clock: () => number,
    @Inject(TRACES) private readonly traces: Traces,
  ) {}

  create(context: TaskContext): PartitionTask {
    const { tools, projection, progress, metrics, quarantine, clock, traces } = this;
    const codec = this.codecs.webhookAttempts;
    return createAttemptsTask(context, { ...tools, codec, projection, progress, metrics, quarantine, clock, traces });
  }
}
