import type { DevicePath } from '@waypost/client';
import type { Place } from './mercator.js';

type Point = DevicePath['points'][number];

export type LocatedPoint = Point & Place;

/** A tracker without a fix reports no place, or one that it does not vouch for. */
export function isLocated(point: Point): point is LocatedPoint {
  return point.valid && point.latitude !== undefined && point.longitude !== undefined;
}
