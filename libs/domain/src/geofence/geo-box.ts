import type { GeofenceVersion } from './geofence-version.js';

/** Degrees; between -180 and 180, so what crosses the antimeridian has two. */
export interface GeoBox {
  readonly minLatitude: number;
  readonly maxLatitude: number;
  readonly minLongitude: number;
  readonly maxLongitude: number;
}

/** About a centimetre: rounding must not keep a place that is on the edge of a shape out of its box. */
const SLACK_DEGREES = 1e-7;

/** The boxes of a shape of which the longitudes go on counting beyond 180, or below -180. */
export function boxesOf(
  minLatitude: number,
  maxLatitude: number,
  minLongitude: number,
  maxLongitude: number,
): readonly GeoBox[] {
  const box = (west: number, east: number): GeoBox => ({
    minLatitude: minLatitude - SLACK_DEGREES,
    maxLatitude: maxLatitude + SLACK_DEGREES,
    minLongitude: west,
    maxLongitude: east,
  });
  const width = maxLongitude - minLongitude + 2 * SLACK_DEGREES;
  if (!(width < 360)) return [box(-180, 180)];
  const west = wrapped(minLongitude - SLACK_DEGREES);
  const east = west + width;
  return east < 180 ? [box(west, east)] : [box(west, 180), box(-180, east - 360)];
}

/** The same meridian, from -180 to below 180. */
export function wrapped(longitude: number): number {
  return longitude - 360 * Math.floor((longitude + 180) / 360);
}

const NOTHING: readonly GeofenceVersion[] = Object.freeze([]);

/** Boxes that are looked at one by one. */
export interface BoxList {
  /** Four numbers for each box, side by side: most places are in none of them, and then nothing else is looked at. */
  readonly edges: Float64Array;
  /** The version of each box, as the list that it makes when it is the only one. */
  readonly alone: readonly (readonly GeofenceVersion[])[];
}

/** All boxes of all versions. */
export function boxListOf(versions: readonly GeofenceVersion[]): BoxList {
  const edges: number[] = [];
  const alone: (readonly GeofenceVersion[])[] = [];
  for (const version of versions) {
    const list = [version];
    for (const { minLatitude, maxLatitude, minLongitude, maxLongitude } of version.shape.boxes) {
      edges.push(minLatitude, maxLatitude, minLongitude, maxLongitude);
      alone.push(list);
    }
  }
  return { edges: Float64Array.from(edges), alone };
}

/**
 * The versions with a box that holds the place, on its edge included.
 *
 * @param first of the boxes to look at
 */
export function within(
  { edges, alone }: BoxList,
  latitude: number,
  longitude: number,
  first = 0,
  count = alone.length,
): readonly GeofenceVersion[] {
  let found = NOTHING;
  for (let index = first; index < first + count; index++) {
    const at = 4 * index;
    if (latitude < (edges[at] as number) || latitude > (edges[at + 1] as number)) continue;
    if (longitude < (edges[at + 2] as number) || longitude > (edges[at + 3] as number)) continue;
    const one = alone[index] as readonly GeofenceVersion[];
    found = found.length === 0 ? one : [...found, ...one];
  }
  return found;
}
