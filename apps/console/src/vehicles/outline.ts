import type { Geofence } from '@waypost/client';
import { type MapView, meterOnMap, project } from './mercator.js';

/** Enough for every outline of which more than a few dashes are seen at a time. */
const MOST_DASHED_PX = 50_000;
const DASHES_PX = [6, 4];

/**
 * The dashes of an outline, none for one that is far larger than the screen: a browser lays out every dash, also those that
 * lie outside, and would take seconds for a country of which one yard is shown.
 */
export function dashesOf(shape: Geofence['shape'], view: MapView): readonly number[] {
  return outlineOf(shape) * view.worldPx > MOST_DASHED_PX ? [] : DASHES_PX;
}

/** How long it is, with those of its holes, on a map that is 1 wide. */
function outlineOf(shape: Geofence['shape']): number {
  if (shape.type === 'circle') return 2 * Math.PI * shape.radiusInMeters * meterOnMap(shape.center.latitude);
  return shape.coordinates.reduce((sum, ring) => sum + lengthOf(ring), 0);
}

function lengthOf(ring: readonly (readonly number[])[]): number {
  const points = ring.map(([longitude = 0, latitude = 0]) => project({ latitude, longitude }));
  return points.reduce((sum, { x, y }, index) => {
    const from = points.at(index - 1) ?? { x, y };
    return sum + Math.hypot(x - from.x, y - from.y);
  }, 0);
}
