import { createPingReader, resolveBatch, type SubjectCodec } from '@waypost/contracts';
import { type PathPoint, pathPointOf, type TelemetryPing } from '@waypost/domain';
import type { PathProjection } from '@waypost/history-store';
import type { PartitionTask, RecordBatch, StreamRecord, TaskContext } from '@waypost/streams';
import type { PathMetrics } from '../projection/metrics.js';
import { createProjectionTask, type ProjectionTaskTools } from '../projection/projection.task.js';

export interface PathsTaskDeps {
  readonly tools: ProjectionTaskTools;
  readonly codec: SubjectCodec<TelemetryPing>;
  readonly projection: PathProjection;
  readonly metrics: PathMetrics;
}

/**
 * Keeps the pings of one partition as paths. Others write this log, so unreadable records are counted and
 * skipped.
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

/** The pings of a batch for the paths. The processor puts the rest into `telemetry.rejected`. */
interface DecodedPings {
  readonly points: readonly PathPoint[];
  /** Records that are not pings. */
  readonly undecodable: number;
  /** Pings that the rules reject. */
  readonly rejected: number;
}

/** Rejects (to be retried) while the schema registry is needed and down. */
type PingDecoder = (batch: RecordBatch) => Promise<DecodedPings>;

function createPingDecoder(codec: SubjectCodec<TelemetryPing>): PingDecoder {
  const read = createPingReader(codec);

  /** null: the record has no ping. */
  function pingOf({ value, offset }: StreamRecord): TelemetryPing | null {
    if (value === null) return null;
    const decoded = read(value, 0, value.length);
    if (decoded.type === 'unresolved') {
      const id = String(decoded.id);
      throw new Error(`Schema id ${id} of the ping at offset ${String(offset)} was not looked up before it was read.`);
    }
    return decoded.type === 'decoded' ? decoded.value : null;
  }

  return async (batch) => {
    await resolveBatch(codec, batch.records);
    const points: PathPoint[] = [];
    let undecodable = 0;
    let rejected = 0;
    for (const record of batch.records) {
      const ping = pingOf(record);
      // A ping may be a view of the batch's memory; a point is not.
      const point = ping === null ? null : pathPointOf(ping, record.key?.toString() ?? null, record.timestamp);
      if (point !== null) points.push(point);
      else if (ping === null) undecodable += 1;
      else rejected += 1;
    }
    return { points, undecodable, rejected };
  };
}
