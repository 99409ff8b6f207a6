import { type PathPoint, RETENTION_MS } from '@waypost/domain';
import { isDayExpired } from '../partitions/daily-table.js';
import type { PositionMove, Superseded } from '../projection/projection-transaction.js';

/** Consecutive pings of one partition. */
export interface PathBatch extends PositionMove {
  readonly points: readonly PathPoint[];
}

export interface AppliedPaths {
  readonly type: 'applied';
  readonly stored: number;
  /** Points whose device and time are stored already or occurred earlier in the batch. */
  readonly repeated: number;
  /** Points not written because their day is beyond the retention. */
  readonly expired: number;
  /** Points not written because they are too far in the future. */
  readonly ahead: number;
}

export type ApplyPathsResult = AppliedPaths | Superseded;

/**
 * Stores the pings of a log as paths, each batch exactly once. Of pings with the same device and time the first
 * in the log is kept, however the log is split into batches.
 */
export abstract class PathProjection {
  /** Where the next batch of a partition starts; null: nothing was ever applied. */
  abstract readPosition(topic: string, partition: number): Promise<number | null>;
  /** The batch and its position become visible together, or neither does. */
  abstract apply(batch: PathBatch): Promise<ApplyPathsResult>;
}

/** The points of a batch that are written, and the numbers of those that are not. */
export interface SelectedPoints {
  /** In log order, each device and time once. */
  readonly points: readonly PathPoint[];
  readonly repeated: number;
  readonly expired: number;
  readonly ahead: number;
}

/**
 * Selects the points to keep. The time comes from the device, and R-3 compares it only with the time of receipt: a
 * sender with a wrong clock could otherwise create a partition for any day.
 */
export function selectPoints(points: readonly PathPoint[], nowMs: number): SelectedPoints {
  const kept = new Map<string, PathPoint>();
  let expired = 0;
  let ahead = 0;
  let repeated = 0;
  for (const point of points) {
    const key = pointKey(point);
    if (isDayExpired(point.eventTime, nowMs)) expired += 1;
    else if (point.eventTime > nowMs + RETENTION_MS) ahead += 1;
    else if (kept.has(key)) repeated += 1;
    else kept.set(key, point);
  }
  return { points: [...kept.values()], repeated, expired, ahead };
}

/** Ids contain no control characters. */
export function pointKey({ fleetId, deviceId, eventTime }: PathPoint): string {
  return `${fleetId}\n${deviceId}\n${String(eventTime)}`;
}
