import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pointInPolygon from 'point-in-polygon-hao';
import { FRAME_NUMBERS, holdsPlace, joinRings } from './joined-rings.js';

type Place = [longitude: number, latitude: number];

/** Few numbers, so that places lie on edges and corners, edges lie on edges, and rings cross themselves. */
const coordinate = fc.integer({ min: 0, max: 6 }).map((step) => 5 + step / 10);
/** Where rounding decides on which side of an edge a place is. */
const hair = fc.constantFrom(0, 0, 0, Number.EPSILON * 4, -Number.EPSILON * 4, 1e-12, -1e-12, 0.05);
const rings = fc.array(fc.array(fc.tuple(coordinate, coordinate), { minLength: 3, maxLength: 9 }), {
  minLength: 1,
  maxLength: 3,
});

function closed(ring: readonly Place[]): Place[] {
  return [...ring, ...ring.slice(0, 1)];
}
function joined(polygon: readonly Place[][]): readonly number[] {
  const frame = Array.from({ length: FRAME_NUMBERS }, () => 0);
  return joinRings(
    frame,
    polygon.map((ring) => ring.flat()),
  );
}

describe('the rings of a polygon in one list', () => {
  it('hold the places that exact arithmetic says they hold, those on edges and corners included', () => {
    fc.assert(
      fc.property(rings, coordinate, coordinate, hair, hair, (open, longitude, latitude, aside, up) => {
        const polygon = open.map(closed);
        const place: Place = [longitude + aside, latitude + up];
        expect(holdsPlace(joined(polygon), ...place)).toBe(pointInPolygon(place, polygon) !== false);
      }),
      { numRuns: 3_000 },
    );
  });
});
