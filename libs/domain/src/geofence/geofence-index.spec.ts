import { describe, expect, it } from '@jest/globals';
import { createGeofenceIndex } from './geofence-index.js';
import { GeofenceVersion } from './geofence-version.js';
import { KnownCells, MAX_BOXES_OF_CELL, MAX_KNOWN_BOXES } from './known-cells.js';
import { circleFence, placeAt } from './testing/geofences.js';

const CENTER = { latitude: 10, longitude: 10 };
const DEGREES_PER_CELL = 1 / 32;

/** Over each other, each a meter further to the east. */
function overlapping(count: number): GeofenceVersion[] {
  return Array.from({ length: count }, (_, number) => {
    const circle = { ...placeAt(CENTER, number, 90), radiusInMeters: 100_000 };
    return new GeofenceVersion(circleFence(circle, { geofenceId: String(number) }), 0, 0);
  });
}

describe('the cells that an index of geofences has looked up', () => {
  /** One place in each of so many cells inside of all the circles; how many versions each finds. */
  function lookAround(versions: readonly GeofenceVersion[], cells: KnownCells, count: number): Set<number> {
    const index = createGeofenceIndex(versions, cells);
    const found = Array.from({ length: count }, (_, number) => {
      const [row, column] = [Math.floor(number / 32), number % 32];
      return index.near(9.5 + row * DEGREES_PER_CELL, 9.5 + column * DEGREES_PER_CELL).length;
    });
    return new Set(found);
  }

  it('keep no boxes of a cell that many geofences share, and all of them are found', () => {
    const cells = new KnownCells();
    expect(lookAround(overlapping(MAX_BOXES_OF_CELL + 1), cells, 900)).toEqual(new Set([MAX_BOXES_OF_CELL + 1]));
    expect({ cells: cells.size, boxes: cells.alone.length }).toEqual({ cells: 900, boxes: 0 });
  });

  it('keep as many boxes as the limit at most, however many cells there are', () => {
    const cells = new KnownCells();
    expect(lookAround(overlapping(MAX_BOXES_OF_CELL), cells, 900)).toEqual(new Set([MAX_BOXES_OF_CELL]));
    // The cache began again once.
    const kept = 900 - MAX_KNOWN_BOXES / MAX_BOXES_OF_CELL;
    expect({ cells: cells.size, boxes: cells.alone.length }).toEqual({ cells: kept, boxes: kept * MAX_BOXES_OF_CELL });
  });
});
