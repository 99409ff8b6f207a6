import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Registry } from 'prom-client';
import { type AvroCodecs, consumerGroups } from '@waypost/contracts';
import { PathProjection } from '@waypost/history-store';
import { CODECS, PartitionConsumer, PartitionContext, type PartitionTaskFactory } from '@waypost/platform';
import type { PartitionTask, RecordBatch, TaskContext } from '@waypost/streams';
import { createPathMetrics, type PathMetrics } from '../projection/metrics.js';
import { PROJECTION_TOOLS, type ProjectionTaskTools } from '../projection/projection.task.js';
import { createPathsTask } from './paths.task.js';

/** Keeps the accepted pings of `telemetry.pings` as paths. */
@Controller()
export class PathsController implements PartitionTaskFactory {
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

  @PartitionConsumer({ group: consumerGroups.pathProjector, tasks: PathsController })
  project(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}
