import Flatbush from 'flatbush';
import { boxListOf, ownersOf, within, type BoxList, type BoxOwner } from './box-list.js';
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
  const owners = ownersOf(versions);
  if (owners.length === 0) return { near: () => NOTHING };
  const tree = new Flatbush(owners.length);
  for (const { box } of owners) tree.add(box.minLongitude, box.minLatitude, box.maxLongitude, box.maxLatitude);
  tree.finish();
  const cells = new Map<number, BoxList | null>();

  const search = (row: number, column: number): BoxList | null => {
    const south = row / CELLS_PER_DEGREE - 90;
    const west = column / CELLS_PER_DEGREE - 180;
    const size = 1 / CELLS_PER_DEGREE;
    const found = tree.search(west - SLACK, south - SLACK, west + size + SLACK, south + size + SLACK);
    return found.length === 0 ? null : boxListOf(found.map((index) => owners[index] as BoxOwner));
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
