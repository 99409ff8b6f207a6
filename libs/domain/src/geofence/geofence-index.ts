import Flatbush from 'flatbush';
import type { GeofenceVersion } from './geofence-version.js';

/** About a kilometre: vehicles ask again and again from the same cells. */
const CELLS_PER_DEGREE = 100;
const CELLS_PER_LATITUDE = 360 * CELLS_PER_DEGREE + 1;
/** Some 10 MB for a fleet that is all over the world. */
const MAX_KNOWN_CELLS = 65_536;
/** Degrees; a place on the border of two cells may be rounded into either. */
const SLACK = 1e-9;

const NOTHING: readonly GeofenceVersion[] = Object.freeze([]);

/** Which of many versions may hold a place. */
export interface GeofenceIndex {
  /** Every version that holds the place is among them; one may be there twice. */
  near(latitude: number, longitude: number): readonly GeofenceVersion[];
}

/**
 * A packed R-tree of the boxes. Asking it costs most of a microsecond, which is a third of all that a ping may cost, so
 * what it says of a cell is kept.
 */
export function createGeofenceIndex(versions: readonly GeofenceVersion[]): GeofenceIndex {
  const owners = versions.flatMap((version) => version.shape.boxes.map((box) => ({ version, box })));
  if (owners.length === 0) return { near: () => NOTHING };
  const tree = new Flatbush(owners.length);
  for (const { box } of owners) tree.add(box.minLongitude, box.minLatitude, box.maxLongitude, box.maxLatitude);
  tree.finish();
  const cells = new Map<number, Cell | null>();

  const search = (row: number, column: number): Cell | null => {
    const south = row / CELLS_PER_DEGREE - 90;
    const west = column / CELLS_PER_DEGREE - 180;
    const size = 1 / CELLS_PER_DEGREE;
    const found = tree.search(west - SLACK, south - SLACK, west + size + SLACK, south + size + SLACK);
    return found.length === 0 ? null : cellOf(found.map((index) => owners[index] as BoxOwner));
  };

  return {
    near(latitude, longitude) {
      const row = Math.floor((latitude + 90) * CELLS_PER_DEGREE);
      const column = Math.floor((longitude + 180) * CELLS_PER_DEGREE);
      const number = row * CELLS_PER_LATITUDE + column;
      let cell = cells.get(number);
      if (cell === undefined) {
        if (cells.size >= MAX_KNOWN_CELLS) cells.clear();
        cell = search(row, column);
        cells.set(number, cell);
      }
      return cell === null ? NOTHING : within(cell, latitude, longitude);
    },
  };
}

interface BoxOwner {
  readonly version: GeofenceVersion;
  readonly box: GeofenceVersion['shape']['boxes'][number];
}

/** The boxes that touch a cell. */
interface Cell {
  /** Four numbers for each box, side by side: most places are in none of them, and then nothing else is looked at. */
  readonly edges: Float64Array;
  /** The version of each box, as the list that it makes when it is the only one. */
  readonly alone: readonly (readonly GeofenceVersion[])[];
}

function cellOf(owners: readonly BoxOwner[]): Cell {
  const edges = owners.flatMap(({ box }) => [box.minLatitude, box.maxLatitude, box.minLongitude, box.maxLongitude]);
  return { edges: Float64Array.from(edges), alone: owners.map(({ version }) => [version]) };
}

function within({ edges, alone }: Cell, latitude: number, longitude: number): readonly GeofenceVersion[] {
  let found = NOTHING;
  for (let index = 0, at = 0; at < edges.length; index++, at += 4) {
    if (latitude < (edges[at] as number) || latitude > (edges[at + 1] as number)) continue;
    if (longitude < (edges[at + 2] as number) || longitude > (edges[at + 3] as number)) continue;
    const one = alone[index] as readonly GeofenceVersion[];
    found = found.length === 0 ? one : [...found, ...one];
  }
  return found;
}
