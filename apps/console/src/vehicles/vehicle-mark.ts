import type { DevicePath } from '@waypost/client';
import type { Part } from '../shared/first-of.js';
import { isLocated, type LocatedPoint } from './located.js';
import type { MapMark } from './map-drawing.js';

/** What trackers report of a vehicle that stands. */
const MOVING_KMH = 3;

/** Where a vehicle was last. */
export interface VehicleMark extends MapMark {
  readonly time: string;
  readonly isMoving: boolean;
}

/**
 * The newest place of each vehicle. Of one whose points continue in the next page, that has it: where that was not read, the last
 * vehicle would stand at a place that it has left.
 */
export function vehicleMarksOf({ items: paths, hasMore }: Part<DevicePath>): VehicleMark[] {
  const marks = new Map<string, VehicleMark>();
  for (const { device_id: label, points } of paths) {
    const last = points.findLast(isLocated);
    if (last) marks.set(label, vehicleMarkOf(label, last));
  }
  if (hasMore) marks.delete(paths.at(-1)?.device_id ?? '');
  return [...marks.values()];
}

function vehicleMarkOf(label: string, point: LocatedPoint): VehicleMark {
  const { latitude, longitude, time, heading, speed_in_kmh = 0 } = point;
  const isMoving = speed_in_kmh > MOVING_KMH;
  return { label, latitude, longitude, time, isMoving, heading: isMoving && heading !== undefined ? heading : null };
}
