import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BoxList } from './box-list.js';
import { PresenceGrid } from './presence-grid.js';

interface Box {
  readonly minLatitude: number;
  readonly maxLatitude: number;
  readonly minLongitude: number;
  readonly maxLongitude: number;
}

function listOf(boxes: readonly Box[]): BoxList {
  return {
    edges: Float64Array.from(
      boxes.flatMap(({ minLatitude, maxLatitude, minLongitude, maxLongitude }) => {
        return [minLatitude, maxLatitude, minLongitude, maxLongitude];
      }),
    ),
    alone: boxes.map(() => []),
  };
}

function double(min: number, max: number) {
  return fc.double({ min, max, noNaN: true });
}
/** Also without a breadth, and with the least that there is. */
const breadth = fc.oneof(double(0, 0.01), double(0, 360), fc.constantFrom(0, Number.MIN_VALUE));
const boxes: fc.Arbitrary<Box> = fc
  .tuple(fc.oneof(double(-90, 90), fc.constant(0)), breadth, fc.oneof(double(-180, 180), fc.constant(0)), breadth)
  .map(([minLatitude, high, minLongitude, wide]) => {
    const maxLatitude = Math.min(90, minLatitude + high);
    return { minLatitude, maxLatitude, minLongitude, maxLongitude: Math.min(180, minLongitude + wide) };
  });

describe('the grid of present fields', () => {
  it('has no box in any place that it calls empty', () => {
    const share = double(0, 1);
    fc.assert(
      fc.property(fc.array(boxes, { minLength: 1, maxLength: 20 }), share, share, (list, up, along) => {
        const grid = new PresenceGrid(listOf(list));
        for (const { minLatitude, maxLatitude, minLongitude, maxLongitude } of list) {
          const latitude = Math.min(maxLatitude, minLatitude + up * (maxLatitude - minLatitude));
          const longitude = Math.min(maxLongitude, minLongitude + along * (maxLongitude - minLongitude));
          expect(grid.mayHold(latitude, longitude)).toBe(true);
          expect(grid.mayHold(minLatitude, maxLongitude)).toBe(true);
          expect(grid.mayHold(maxLatitude, minLongitude)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('reports nearly all of a sparsely covered area as empty', () => {
    const list = Array.from({ length: 1_000 }, (_, n) => {
      const [south, west] = [50 + (n % 37) / 37, 4 + (n % 101) / 101];
      return { minLatitude: south, maxLatitude: south + 0.004, minLongitude: west, maxLongitude: west + 0.004 };
    });
    const grid = new PresenceGrid(listOf(list));
    const places = Array.from({ length: 10_000 }, (_, n) => [50 + (n % 100) / 100, 4 + Math.floor(n / 100) / 100]);
    const held = places.filter(([latitude, longitude]) => grid.mayHold(latitude as number, longitude as number));
    // They cover 1.6 %, and 6 % when each is half a place wider on every side.
    expect(held.length).toBeLessThan(1_000);
    expect(grid.mayHold(49.9, 4.5)).toBe(false);
    expect(grid.mayHold(50.5, Number.NaN)).toBe(false);
  });
});
