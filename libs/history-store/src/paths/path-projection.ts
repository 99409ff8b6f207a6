import type { PathPoint } from '@waypost/domain';
import type { PositionMove } from '../history/projection-position.js';

/** A run of one partition of the pings, in log order; the position moves also when `points` is empty. */
export interface PathBatch extends PositionMove {
  readonly points: readonly PathPoint[];
}

export interface AppliedPaths {
  readonly type: 'applied';
  /** Points that are new. */
  readonly stored: number;
  /** Points whose device and time are stored already, or stood earlier in the batch. */
  readonly repeated: number;
  /** Points whose day is beyond the retention; not written. */
  readonly expired: number;
  /** Points further ahead of the clock than the retention reaches back; not written. */
  readonly ahead: number;
}

export type ApplyPathsResult =
  | AppliedPaths
  /** Another writer moved the position. Nothing was written; go on from the stored position. */
  | { readonly type: 'superseded'; readonly storedOffset: number | null };

/**
 * Keeps the pings of a log as paths, each batch exactly once. Of the pings of one device and time the first in the
 * log is kept, however the log is split into batches.
 */
export interface PathProjection {
  /** Where the next batch of a partition starts; null: nothing was ever applied. */
  readPosition(topic: string, partition: number): Promise<number | null>;
  /** All of the batch and its position become visible together, or nothing does. */
  apply(batch: PathBatch): Promise<ApplyPathsResult>;
}
