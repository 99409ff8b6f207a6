import type { GeofenceVersion } from './geofence-version.js';

const NOTHING: readonly GeofenceVersion[] = Object.freeze([]);

export interface BoxOwner {
  readonly version: GeofenceVersion;
  readonly box: GeofenceVersion['shape']['boxes'][number];
}

/** A few boxes that are looked at one by one. */
export interface BoxList {
  /** Four numbers for each box, side by side: most places are in none of them, and then nothing else is looked at. */
  readonly edges: Float64Array;
  /** The version of each box, as the list that it makes when it is the only one. */
  readonly alone: readonly (readonly GeofenceVersion[])[];
}

export function ownersOf(versions: readonly GeofenceVersion[]): BoxOwner[] {
  return versions.flatMap((version) => version.shape.boxes.map((box) => ({ version, box })));
}

export function boxListOf(owners: readonly BoxOwner[]): BoxList {
  const edges = owners.flatMap(({ box }) => [box.minLatitude, box.maxLatitude, box.minLongitude, box.maxLongitude]);
  return { edges: Float64Array.from(edges), alone: owners.map(({ version }) => [version]) };
}

/** The versions with a box that holds the place, on its edge included. */
export function within({ edges, alone }: BoxList, latitude: number, longitude: number): readonly GeofenceVersion[] {
  let found = NOTHING;
  for (let index = 0, at = 0; at < edges.length; index++, at += 4) {
    if (latitude < (edges[at] as number) || latitude > (edges[at + 1] as number)) continue;
    if (longitude < (edges[at + 2] as number) || longitude > (edges[at + 3] as number)) continue;
    const one = alone[index] as readonly GeofenceVersion[];
    found = found.length === 0 ? one : [...found, ...one];
  }
  return found;
}
