import type { GeofenceVersion } from './geofence-version.js';

const NOTHING: readonly GeofenceVersion[] = Object.freeze([]);

export interface BoxList {
  /** South, north, west and east of each box, in one array since most places are in no box. */
  readonly edges: Float64Array;
  /** A one-element list per box, so that the usual result needs no new list. */
  readonly alone: readonly (readonly GeofenceVersion[])[];
}

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

/** The versions with a box that contains the place, edges included. */
export function within(
  { edges, alone }: BoxList,
  latitude: number,
  longitude: number,
  first = 0,
  count = alone.length,
): readonly GeofenceVersion[] {
  let found = NOTHING;
  let several: GeofenceVersion[] | null = null;
  for (let index = first; index < first + count; index++) {
    const at = 4 * index;
    if (latitude < (edges[at] as number) || latitude > (edges[at + 1] as number)) continue;
    if (longitude < (edges[at + 2] as number) || longitude > (edges[at + 3] as number)) continue;
    const one = alone[index] as readonly GeofenceVersion[];
    if (found.length === 0) found = one;
    else (several ??= [...found]).push(...one);
  }
  return several ?? found;
}
