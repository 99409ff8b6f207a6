import { Inject, Injectable } from '@nestjs/common';
import { type AvroCodecs } from '@waypost/contracts';
import type { WaitingProjection } from '@waypost/history-store';
import { CLOCK, CODECS, type PartitionTaskFactory } from '@waypost/platform';
import type { PartitionTask, TaskContext } from '@waypost/streams';
import type { WaitingMetrics } from '../projection/metrics.js';
import { PROJECTION_TOOLS, type ProjectionTaskTools } from '../projection/projection.task.js';
import { createWaitingTask } from './waiting.task.js';

/** WaitingProjection */
export const WAITING_PROJECTION = Symbol('WAITING_PROJECTION');
/** WaitingMetrics */
export const WAITING_METRICS = Symbol('WAITING_METRICS');

@Injectable()
export class WaitingTasks implements PartitionTaskFactory {
  constructor(
    @Inject(PROJECTION_TOOLS) private readonly tools: ProjectionTaskTools,
    @Inject(CODECS) private readonly codecs: AvroCodecs,
    @Inject(WAITING_PROJECTION) private readonly projection: WaitingProjection,
    @Inject(WAITING_METRICS) private readonly metrics: WaitingMetrics,
    @Inject(CLOCK) private readonly clock: () => number,
  ) {}

  create(context: TaskContext): PartitionTask {
    const { tools, projection, metrics, clock } = this;
    return createWaitingTask(context, { ...tools, codec: this.codecs.webhookDeliveries, projection, metrics, clock });
  }
}
