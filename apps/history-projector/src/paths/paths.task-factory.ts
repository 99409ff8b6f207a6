import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import type { AvroCodecs } from '@waypost/contracts';
import { PathProjection } from '@waypost/history-store';
import { CODECS, type PartitionTaskFactory } from '@waypost/platform';
import type { PartitionTask, TaskContext } from '@waypost/streams';
import { createPathMetrics } from '../projection/metrics.js';
import { ProjectionTools } from '../projection/projection-tools.js';
import { createPathsTask, type PathsTaskDeps } from './paths.task.js';

@Injectable()
export class PathsTaskFactory implements PartitionTaskFactory {
  private readonly deps: PathsTaskDeps;

  constructor(
    tools: ProjectionTools,
    @Inject(CODECS) { telemetryPings: codec }: Pick<AvroCodecs, 'telemetryPings'>,
    projection: PathProjection,
    registry: Registry,
  ) {
    this.deps = { tools, codec, projection, metrics: createPathMetrics(registry) };
  }

  create(context: TaskContext): PartitionTask {
    return createPathsTask(context, this.deps);
  }
}
