import Flatbush from 'flatbush';
import { boxListOf, within, type BoxList } from './box-list.js';
import type { GeofenceVersion } from './geofence-version.js';
import { KnownCells } from './known-cells.js';
import { PresenceGrid } from './presence-grid.js';

/** About two kilometres: vehicles ask again and again from the same cells. */
const CELLS_PER_DEGREE = 50;
const CELLS_PER_LATITUDE = 360 * CELLS_PER_DEGREE + 1;
/** Some 3 MB for a fleet that is all over the world. */
const MAX_KNOWN_CELLS = 65_536;
/** Degrees; a place on the border of two cells may be rounded into either. */
const SLACK = 1e-9;

const NOTHING: readonly GeofenceVersion[] = Object.freeze([]);

/** Which of many versions may hold a place. */
export interface GeofenceIndex {
  /** Every version that holds the place is among them; one may be there twice. */
  near(latitude: number, longitude: number): readonly GeofenceVersion[];
}

const EMPTY: GeofenceIndex = Object.freeze({ near: () => NOTHING });

export function createGeofenceIndex(versions: readonly GeofenceVersion[]): GeofenceIndex {
  const boxes = boxListOf(versions);
  return boxes.alone.length === 0 ? EMPTY : new PackedBoxes(boxes);
}

/**
 * A packed R-tree of the boxes. Asking it costs most of a microsecond, which is a third of all that a ping may cost, so
 * what it says of a cell is kept.
 */
class PackedBoxes implements GeofenceIndex {
  private readonly presence: PresenceGrid;
  private readonly tree: Flatbush;
  private cells = new KnownCells();

  constructor(private readonly boxes: BoxList) {
    this.presence = new PresenceGrid(boxes);
    this.tree = treeOf(boxes);
  }

  near(latitude: number, longitude: number): readonly GeofenceVersion[] {
    return this.presence.mayHold(latitude, longitude) ? this.nearBoxes(latitude, longitude) : NOTHING;
  }

  private nearBoxes(latitude: number, longitude: number): readonly GeofenceVersion[] {
    const row = Math.floor((latitude + 90) * CELLS_PER_DEGREE);
    const column = Math.floor((longitude + 180) * CELLS_PER_DEGREE);
    let at = this.cells.find(row * CELLS_PER_LATITUDE + column);
    if (at === -1) at = this.learn(row, column);
    const count = this.cells.boxCount(at);
    return count === 0 ? NOTHING : within(this.cells, latitude, longitude, this.cells.firstBox(at), count);
  }

  private learn(row: number, column: number): number {
    if (this.cells.size >= MAX_KNOWN_CELLS) this.cells = new KnownCells();
    const cell = row * CELLS_PER_LATITUDE + column;
    return this.cells.add(cell, this.boxes, boxesOfCell(this.tree, row, column));
  }
}

function boxesOfCell(tree: Flatbush, row: number, column: number): number[] {
  const south = row / CELLS_PER_DEGREE - 90;
  const west = column / CELLS_PER_DEGREE - 180;
  const size = 1 / CELLS_PER_DEGREE;
  return tree.search(west - SLACK, south - SLACK, west + size + SLACK, south + size + SLACK);
}

function treeOf({ edges, alone }: BoxList): Flatbush {
  const tree = new Flatbush(alone.length);
  for (let at = 0; at < edges.length; at += 4) {
    const [minLatitude, maxLatitude, minLongitude, maxLongitude] = edges.subarray(at, at + 4);
    tree.add(minLongitude as number, minLatitude as number, maxLongitude, maxLatitude);
  }
  tree.finish();
  return tree;
}
