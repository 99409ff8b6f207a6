import { Inject, Injectable } from '@nestjs/common';
import { type AvroCodecs } from '@waypost/contracts';
import type { PathProjection } from '@waypost/history-store';
import { CODECS, type PartitionTaskFactory } from '@waypost/platform';
import type { PartitionTask, TaskContext } from '@waypost/streams';
import type { PathMetrics } from '../projection/metrics.js';
import { PROJECTION_TOOLS, type ProjectionTaskTools } from '../projection/projection.task.js';
import { createPathsTask } from './paths.task.js';

/** PathProjection */
export const PATH_PROJECTION = Symbol('PATH_PROJECTION');
/** PathMetrics */
export const PATH_METRICS = Symbol('PATH_METRICS');

@Injectable()
export class PathTasks implements PartitionTaskFactory {
  constructor(
    @Inject(PROJECTION_TOOLS) private readonly tools: ProjectionTaskTools,
    @Inject(CODECS) private readonly codecs: AvroCodecs,
    @Inject(PATH_PROJECTION) private readonly projection: PathProjection,
    @Inject(PATH_METRICS) private readonly metrics: PathMetrics,
  ) {}

  create(context: TaskContext): PartitionTask {
    const { tools, projection, metrics } = this;
    return createPathsTask(context, { ...tools, codec: this.codecs.telemetryPings, projection, metrics });
  }
}
