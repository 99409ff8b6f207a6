import Flatbush from 'flatbush';
import { type BoxList, boxListOf, within } from './box-list.js';
import type { GeofenceVersion } from './geofence-version.js';
import { KnownCells } from './known-cells.js';
import { PresenceGrid } from './presence-grid.js';

/** Cells of about 3.5 km: vehicles look up the same ones again and again. */
const CELLS_PER_DEGREE = 32;
const CELLS_PER_LATITUDE = 360 * CELLS_PER_DEGREE + 1;
/** Degrees. A place on the border of two cells may be rounded into either. */
const SLACK = 1e-9;

const NOTHING: readonly GeofenceVersion[] = Object.freeze([]);

export interface GeofenceIndex {
  /** Contains every version that contains the place; a version may occur twice. */
  near(latitude: number, longitude: number): readonly GeofenceVersion[];
}

const EMPTY: GeofenceIndex = Object.freeze({ near: () => NOTHING });

export function createGeofenceIndex(
  versions: readonly GeofenceVersion[],
  cells: KnownCells = new KnownCells(),
): GeofenceIndex {
  const boxes = boxListOf(versions);
  return boxes.alone.length === 0 ? EMPTY : new PackedBoxes(boxes, cells);
}

/** A packed R-tree. A search costs most of a microsecond, a third of what a ping may cost, so the result is cached by cell. */
class PackedBoxes implements GeofenceIndex {
  private readonly presence: PresenceGrid;
  private readonly tree: Flatbush;

  constructor(
    private readonly boxes: BoxList,
    private readonly cells: KnownCells,
  ) {
    this.presence = new PresenceGrid(boxes);
    this.tree = treeOf(boxes);
  }

  near(latitude: number, longitude: number): readonly GeofenceVersion[] {
    return this.presence.mayHold(latitude, longitude) ? this.nearBoxes(latitude, longitude) : NOTHING;
  }

  private nearBoxes(latitude: number, longitude: number): readonly GeofenceVersion[] {
    const row = Math.floor((latitude + 90) * CELLS_PER_DEGREE);
    const column = Math.floor((longitude + 180) * CELLS_PER_DEGREE);
    const at = this.cellAt(row, column);
    if (this.cells.isCrowded(at)) return this.search(latitude, longitude);
    const count = this.cells.boxCount(at);
    return count === 0 ? NOTHING : within(this.cells, latitude, longitude, this.cells.firstBox(at), count);
  }

  private cellAt(row: number, column: number): number {
    const at = this.cells.find(row * CELLS_PER_LATITUDE + column);
    return at === -1 ? this.learn(row, column) : at;
  }

  private learn(row: number, column: number): number {
    const cell = row * CELLS_PER_LATITUDE + column;
    return this.cells.add(cell, this.boxes, boxesOfCell(this.tree, row, column));
  }

  private search(latitude: number, longitude: number): readonly GeofenceVersion[] {
    const { alone } = this.boxes;
    return this.tree.search(longitude, latitude, longitude, latitude).flatMap((number) => alone[number] ?? NOTHING);
  }
}

function boxesOfCell(tree: Flatbush, row: number, column: number): number[] {
  const south = row / CELLS_PER_DEGREE - 90;
  const west = column / CELLS_PER_DEGREE - 180;
  const north = (row + 1) / CELLS_PER_DEGREE - 90;
  const east = (column + 1) / CELLS_PER_DEGREE - 180;
  return tree.search(west - SLACK, south - SLACK, east + SLACK, north + SLACK);
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
