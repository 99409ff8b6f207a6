import { RETENTION_MS, type PathPoint } from '@waypost/domain';
import { isDayExpired } from '../history/retention.js';

/** What of a batch is to be written, and how much of it is not. */
export interface SelectedPoints {
  /** In log order, no two of one device and time. */
  readonly points: readonly PathPoint[];
  readonly repeated: number;
  readonly expired: number;
  readonly ahead: number;
}

/**
 * Picks the points that can be kept. A time is the device's, and R-3 holds it against that of the receipt only: a sender
 * with a wrong clock would otherwise make a partition for any day there is.
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

/** Ids hold no control characters. */
export const pointKey = ({ fleetId, deviceId, eventTime }: PathPoint): string =>
  `${fleetId}\n${deviceId}\n${String(eventTime)}`;
