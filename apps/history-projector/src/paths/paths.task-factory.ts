import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import { type AvroCodecs } from '@waypost/contracts';
import { PathProjection } from '@waypost/history-store';
import { CODECS, type PartitionTaskFactory } from '@waypost/platform';
import type { PartitionTask, TaskContext } from '@waypost/streams';
import { createPathMetrics, type PathMetrics } from '../projection/metrics.js';
import { PROJECTION_TOOLS, type ProjectionTaskTools } from '../projection/projection.task.js';
import { createPathsTask } from './paths.task.js';

@Injectable()
export class PathsTaskFactory implements PartitionTaskFactory {
  private readonly metrics: PathMetrics;

  constructor(
    @Inject(PROJECTION_TOOLS) private readonly tools: ProjectionTaskTools,
    @Inject(CODECS) private readonly codecs: AvroCodecs,
    private readonly projection: PathProjection,
    registry: Registry,
  ) {
    this.metrics = createPathMetrics(registry);
  }

  create(context: TaskContext): PartitionTask {
    const { tools, projection, metrics } = this;
    return createPathsTask(context, { ...tools, codec: this.codecs.telemetryPings, projection, metrics });
  }
}
