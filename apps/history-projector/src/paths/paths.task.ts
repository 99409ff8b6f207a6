import type { SubjectCodec, TelemetryPing } from '@waypost/contracts';
import type { PathProjection } from '@waypost/history-store';
import type { PartitionTask, TaskContext } from '@waypost/streams';
import { createProjectionTask, type ProjectionTaskTools } from '../projection.task.js';
import { createPingDecoder } from './decode-pings.js';
import type { PathMetrics } from './path-metrics.js';

export interface PathsTaskDeps extends ProjectionTaskTools {
  readonly codec: SubjectCodec<TelemetryPing>;
  readonly projection: PathProjection;
  readonly metrics: PathMetrics;
}

/**
 * Keeps the pings of one partition as paths. Unlike the attempts log, this one is written by others: what cannot
 * be read is counted and left out.
 */
export function createPathsTask(context: TaskContext, deps: PathsTaskDeps): PartitionTask {
  const { codec, projection, metrics } = deps;
  const decodePings = createPingDecoder(codec);
  return createProjectionTask(context, {
    ...deps,
    decode: async (batch) => {
      const { points, undecodable, rejected } = await decodePings(batch);
      metrics.pingsLeftOut('undecodable', undecodable);
      metrics.pingsLeftOut('rejected', rejected);
      return points;
    },
    projection: {
      readPosition: (topic, partition) => projection.readPosition(topic, partition),
      apply: ({ items, ...batch }) => projection.apply({ ...batch, points: items }),
    },
  });
}
