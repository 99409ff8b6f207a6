import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { boxListOf } from './box-list.js';
import { GeofenceVersion } from './geofence-version.js';
import { KnownCells } from './known-cells.js';
import { circleFence } from './testing/geofences.js';

const all = boxListOf(
  Array.from({ length: 5 }, (_, n) => {
    const circle = { latitude: 10 * n, longitude: 5, radiusInMeters: 100 };
    return new GeofenceVersion(circleFence(circle, { geofenceId: String(n) }), 0, 0);
  }),
);
/** Cells, many of which the hash puts into the same slots; ten at most unless a size is given. */
const cells = fc.uniqueArray(fc.oneof(fc.nat(2 ** 31 - 3), fc.nat(200)), { maxLength: 400, size: 'max' });
const boxes = fc.array(fc.nat(4), { maxLength: 3 });

function boxIn({ alone, edges }: Pick<typeof all, 'alone' | 'edges'>, box: number) {
  return { alone: alone[box], edges: [...edges.subarray(4 * box, 4 * box + 4)] };
}

describe('the cells that are known', () => {
  it('are the only ones found, with their boxes, however many there are', () => {
    fc.assert(
      fc.property(
        cells,
        fc.array(boxes, { minLength: 1, maxLength: 20 }),
        fc.nat(2 ** 31 - 3),
        (asked, lists, other) => {
          const known = new KnownCells();
          const boxesOf = new Map(asked.map((cell, index) => [cell, lists[index % lists.length] ?? []]));
          const foundBefore = [...boxesOf].filter(([cell, numbers]) => {
            const at = known.find(cell);
            known.add(cell, all, numbers);
            return at !== -1;
          });
          expect(foundBefore).toEqual([]);
          expect(known.size).toBe(asked.length);
          const found = asked.map((cell) => {
            const at = known.find(cell);
            const first = known.firstBox(at);
            return Array.from({ length: known.boxCount(at) }, (_, index) => boxIn(known, first + index));
          });
          const expected = asked.map((cell) => (boxesOf.get(cell) ?? []).map((number) => boxIn(all, number)));
          expect(found).toEqual(expected);
          if (!boxesOf.has(other)) expect(known.find(other)).toBe(-1);
        },
      ),
    );
  });
});
