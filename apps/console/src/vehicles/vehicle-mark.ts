import type { LocatedPoint } from './located.js';
import type { MapMark } from './map-drawing.js';

/** What trackers report of a vehicle that stands. */
const MOVING_KMH = 3;

/** Where a vehicle was last. */
export interface VehicleMark extends MapMark {
  readonly time: string;
  readonly isMoving: boolean;
}

export function vehicleMarkOf(label: string, point: LocatedPoint): VehicleMark {
  const { latitude, longitude, time, heading, speed_in_kmh = 0 } = point;
  const isMoving = speed_in_kmh > MOVING_KMH;
  return { label, latitude, longitude, time, isMoving, heading: isMoving && heading !== undefined ? heading : null };
}
