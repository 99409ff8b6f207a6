import type { Geofence } from './geofence.js';

/** The shape of a geofence as a few flat lists of numbers, for there are thousands of a fleet and most are far from every vehicle. */
export interface GeofenceOutline {
  readonly circle: Geofence['circle'];
  /** Latitude and longitude by turns. */
  readonly rings: readonly (readonly number[])[] | null;
}

export function outlineOf({ circle, polygon }: Pick<Geofence, 'circle' | 'polygon'>): GeofenceOutline {
  const rings = polygon?.rings.map((ring) => ring.flatMap(({ latitude, longitude }) => [latitude, longitude]));
  return { circle, rings: rings ?? null };
}

export function ofOutline({ circle, rings }: GeofenceOutline): Pick<Geofence, 'circle' | 'polygon'> {
  return { circle, polygon: rings === null ? null : { rings: rings.map(pointsOf) } };
}

function pointsOf(numbers: readonly number[]): { latitude: number; longitude: number }[] {
  const points = [];
  for (let at = 0; at + 1 < numbers.length; at += 2) {
    points.push({ latitude: numbers[at] as number, longitude: numbers[at + 1] as number });
  }
  return points;
}
