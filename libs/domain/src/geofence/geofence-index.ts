import Flatbush from 'flatbush';
import type { GeofenceVersion } from './geofence-version.js';

/** About a kilometre: vehicles ask again and again from the same cells. */
const CELLS_PER_DEGREE = 100;
const CELLS_PER_LATITUDE = 360 * CELLS_PER_DEGREE + 1;
/** Some 10 MB for a fleet that is all over the world. */
const MAX_KNOWN_CELLS = 65_536;

const NOTHING: readonly GeofenceVersion[] = Object.freeze([]);

/** Which of many versions may hold a place. */
export interface GeofenceIndex {
  /** Every version that holds the place is among them. */
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
  const cells = new Map<number, readonly GeofenceVersion[]>();

  const search = (row: number, column: number): readonly GeofenceVersion[] => {
    const south = row / CELLS_PER_DEGREE - 90;
    const west = column / CELLS_PER_DEGREE - 180;
    const size = 1 / CELLS_PER_DEGREE;
    const found = tree.search(west - SLACK, south - SLACK, west + size + SLACK, south + size + SLACK);
    if (found.length === 0) return NOTHING;
    // A shape may have two boxes.
    return [...new Set(found.map((index) => (owners[index] as (typeof owners)[number]).version))];
  };

  return {
    near(latitude, longitude) {
      const row = Math.floor((latitude + 90) * CELLS_PER_DEGREE);
      const column = Math.floor((longitude + 180) * CELLS_PER_DEGREE);
      const cell = row * CELLS_PER_LATITUDE + column;
      const known = cells.get(cell);
      if (known !== undefined) return known;
      if (cells.size >= MAX_KNOWN_CELLS) cells.clear();
      const found = search(row, column);
      cells.set(cell, found);
      return found;
    },
  };
}

/** Degrees; a place on the border of two cells may be rounded into either. */
const SLACK = 1e-9;
