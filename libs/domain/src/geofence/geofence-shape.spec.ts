import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { GeoPoint } from '../records/geofence.js';
import { geofenceFault, shapeOf } from './geofence-shape.js';
import { circleFence, placeAt, plainDistance, polygonFence } from './testing/geofences.js';

function place(latitude: number, longitude: number): GeoPoint {
  return { latitude, longitude };
}
const places = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
});

/** The sides of a square of about 2.2 km in the Netherlands, and of the hole in its middle. */
const SQUARE: [number, number][] = [
  [52, 5],
  [52, 5.02],
  [52.02, 5.02],
  [52.02, 5],
];
const HOLE: [number, number][] = [
  [52.008, 5.008],
  [52.012, 5.008],
  [52.012, 5.012],
  [52.008, 5.012],
];

describe('a circle', () => {
  /** In steps: most numbers that floating point can write are next to zero. */
  const inSteps = (min: number, max: number, step: number): fc.Arbitrary<number> =>
    fc.integer({ min: min / step, max: max / step }).map((count) => count * step);
  const center = fc.record({
    latitude: inSteps(-90, 90, 0.5),
    longitude: inSteps(-180, 180, 0.5),
    // Beside a pole the test's own places are exact to some centimeters only.
    radiusInMeters: fc.oneof(inSteps(500, 20_000, 50), inSteps(500, 2_000_000, 50)),
  });
  const bearing = inSteps(0, 360, 0.5);

  it('contains points nearer than its radius, anywhere on earth, poles and antimeridian included', () => {
    fc.assert(
      fc.property(center, bearing, fc.double({ min: 0, max: 0.999, noNaN: true }), (circle, course, share) => {
        const { latitude, longitude } = placeAt(circle, circle.radiusInMeters * share, course);
        const shape = shapeOf(circleFence(circle));
        expect(shape.contains(latitude, longitude)).toBe(true);
        expect(shape.isBeyond(latitude, longitude, 0)).toBe(false);
        expect(shape.boxes.some((box) => holds(box, latitude, longitude))).toBe(true);
      }),
    );
  });

  it('is left by as much as the place is farther off than the radius', () => {
    fc.assert(
      fc.property(center, bearing, fc.double({ min: 1, max: 5_000, noNaN: true }), (circle, course, more) => {
        const { latitude, longitude } = placeAt(circle, circle.radiusInMeters + more, course);
        const shape = shapeOf(circleFence(circle));
        expect(shape.contains(latitude, longitude)).toBe(false);
        expect(shape.isBeyond(latitude, longitude, more - 0.2)).toBe(true);
        expect(shape.isBeyond(latitude, longitude, more + 0.2)).toBe(false);
      }),
    );
  });

  it.each([
    ['over the north pole', { latitude: 89.5, longitude: 10, radiusInMeters: 100_000 }, [88.6007, 90]],
    ['over the south pole', { latitude: -89.5, longitude: 10, radiusInMeters: 100_000 }, [-90, -88.6007]],
  ])('that reaches %s has one box of all longitudes', (_, circle, [south = NaN, north = NaN]) => {
    const [box, ...more] = shapeOf(circleFence(circle)).boxes;
    expect(more).toEqual([]);
    expect(box).toMatchObject({ minLongitude: -180, maxLongitude: 180 });
    expect(box?.minLatitude).toBeCloseTo(south, 4);
    expect(box?.maxLatitude).toBeCloseTo(north, 4);
  });

  it('has a box no larger than the circle elsewhere', () => {
    const [box, ...more] = shapeOf(circleFence({ latitude: 60, longitude: 10, radiusInMeters: 1_112 })).boxes;
    expect(more).toEqual([]);
    expect(box?.minLatitude).toBeCloseTo(59.99, 4);
    expect(box?.maxLatitude).toBeCloseTo(60.01, 4);
    // A degree of longitude is half as long there.
    expect(box?.minLongitude).toBeCloseTo(9.98, 4);
    expect(box?.maxLongitude).toBeCloseTo(10.02, 4);
  });

  it('agrees with a distance that is computed another way', () => {
    fc.assert(
      fc.property(center, places, (circle, { latitude, longitude }) => {
        const distance = plainDistance(circle, place(latitude, longitude));
        fc.pre(Math.abs(distance - circle.radiusInMeters) > 0.2);
        expect(shapeOf(circleFence(circle)).contains(latitude, longitude)).toBe(distance < circle.radiusInMeters);
      }),
    );
  });
});

function holds(
  box: { minLatitude: number; maxLatitude: number; minLongitude: number; maxLongitude: number },
  latitude: number,
  longitude: number,
): boolean {
  return (
    latitude >= box.minLatitude &&
    latitude <= box.maxLatitude &&
    longitude >= box.minLongitude &&
    longitude <= box.maxLongitude
  );
}

describe('a polygon', () => {
  it.each([
    ['in the middle', 52.01, 5.005, true],
    ['on a side', 52, 5.01, true],
    ['on a corner', 52.02, 5.02, true],
    ['on the side that closes it', 52.01, 5, true],
    ['a hair beyond a side', 51.999999, 5.01, false],
    ['in the hole', 52.01, 5.01, false],
    ['on the side of the hole', 52.01, 5.008, true],
    ['on a corner of the hole', 52.008, 5.008, true],
    ['far away', -52, -5, false],
    ['that is not a place', 52.015, NaN, false],
  ])('says of a place %s whether it is inside', (_where, latitude, longitude, inside) => {
    expect(shapeOf(polygonFence([SQUARE, HOLE])).contains(latitude, longitude)).toBe(inside);
  });

  it('means the same whichever way its rings go round, and whether they repeat their first point', () => {
    const [first] = SQUARE;
    if (!first) throw new Error('no corner');
    const closed = [...SQUARE, first];
    const fences = [SQUARE, closed, [...SQUARE].reverse(), [...closed].reverse()].map((ring) =>
      shapeOf(polygonFence([ring])),
    );
    fc.assert(
      fc.property(
        fc.double({ min: 51.99, max: 52.03, noNaN: true }),
        fc.double({ min: 4.99, max: 5.03, noNaN: true }),
        (latitude, longitude) => {
          const inside = latitude >= 52 && latitude <= 52.02 && longitude >= 5 && longitude <= 5.02;
          expect(fences.map((shape) => shape.contains(latitude, longitude))).toEqual(fences.map(() => inside));
        },
      ),
    );
  });

  it.each([
    ['100 m north of a side', 52.02, 0, 100],
    ['100 m east of a side', 52.01, 90, 100],
    ['100 m south of a side', 52, 180, 100],
  ])('is left by the way to its nearest side: %s', (_where, latitude, bearing, meters) => {
    const from = place(latitude, bearing === 90 ? 5.02 : 5.01);
    const { latitude: toLatitude, longitude } = placeAt(from, meters, bearing);
    const shape = shapeOf(polygonFence([SQUARE]));
    expect(shape.isBeyond(toLatitude, longitude, meters - 0.1)).toBe(true);
    expect(shape.isBeyond(toLatitude, longitude, meters + 0.1)).toBe(false);
  });

  it('measures from a corner when that is nearest, and inside of a hole to the sides of the hole', () => {
    const shape = shapeOf(polygonFence([SQUARE, HOLE]));
    const { latitude, longitude } = placeAt(place(52.02, 5.02), 500, 45);
    expect(shape.isBeyond(latitude, longitude, 499)).toBe(true);
    expect(shape.isBeyond(latitude, longitude, 501)).toBe(false);
    // East and west, where the sides of the hole are nearest.
    const toSide = plainDistance(place(52.01, 5.01), place(52.01, 5.012));
    expect(shape.isBeyond(52.01, 5.01, toSide - 1)).toBe(true);
    expect(shape.isBeyond(52.01, 5.01, toSide + 1)).toBe(false);
  });

  it('has the radius of a circle of the same area, holes taken off', () => {
    const side = plainDistance(place(52, 5.01), place(52.02, 5.01));
    const width = plainDistance(place(52.01, 5), place(52.01, 5.02));
    const whole = Math.sqrt((side * width) / Math.PI);
    expect(shapeOf(polygonFence([SQUARE])).radiusInMeters).toBeCloseTo(whole, 0);
    // The hole has a fifth of each side.
    expect(shapeOf(polygonFence([SQUARE, HOLE])).radiusInMeters).toBeCloseTo(whole * Math.sqrt(0.96), 0);
  });

  const shifted = (degrees: number, ring: readonly (readonly [number, number])[]): [number, number][] =>
    ring.map(([latitude, longitude]) => [latitude, ((longitude + degrees + 540) % 360) - 180]);

  it('is the same shape wherever on its circle of latitude it lies, across the antimeridian too', () => {
    const here = shapeOf(polygonFence([SQUARE, HOLE]));
    fc.assert(
      fc.property(
        fc.integer({ min: -185, max: 185 }),
        fc.double({ min: 51.99, max: 52.03, noNaN: true }),
        fc.double({ min: 4.98, max: 5.04, noNaN: true }),
        (degrees, latitude, longitude) => {
          const there = shapeOf(polygonFence([shifted(degrees, SQUARE), shifted(degrees, HOLE)]));
          const [[, moved]] = shifted(degrees, [[latitude, longitude]]) as [[number, number]];
          expect(there.radiusInMeters).toBeCloseTo(here.radiusInMeters, 3);
          for (const margin of [5, 100, 1_000]) {
            expect(there.isBeyond(latitude, moved, margin + 0.01)).toBe(
              here.isBeyond(latitude, longitude, margin + 0.01),
            );
          }
          if (there.contains(latitude, moved))
            expect(there.boxes.some((box) => holds(box, latitude, moved))).toBe(true);
        },
      ),
    );
  });

  it('has its hole where it is drawn, also across the antimeridian', () => {
    const outer: [number, number][] = [
      [-20, 170],
      [-20, -170],
      [-10, -170],
      [-10, 170],
    ];
    const hole: [number, number][] = [
      [-16, -178],
      [-16, -174],
      [-14, -174],
      [-14, -178],
    ];
    const shape = shapeOf(polygonFence([outer, hole]));
    const longitudes = [169, 170, 175, -179, -176, -173, -169];
    expect(longitudes.map((longitude) => shape.contains(-15, longitude))).toEqual([
      ...[false, true, true, true],
      ...[false, true, false],
    ]);
  });

  it('may lie around a pole', () => {
    const cap = shapeOf(
      polygonFence([
        [
          [80, -150],
          [80, -30],
          [80, 90],
        ],
      ]),
    );
    expect(cap.contains(90, 0)).toBe(true);
    expect(cap.contains(85, 179)).toBe(true);
    expect(cap.contains(79, 10)).toBe(false);
    expect(cap.contains(-85, 10)).toBe(false);
    expect(cap.boxes.every((box) => box.minLongitude === -180 && box.maxLongitude === 180)).toBe(true);
    // The area of a cap of 10 degrees.
    const area = 2 * Math.PI * 6_371_008.8 ** 2 * (1 - Math.sin((80 * Math.PI) / 180));
    expect(cap.radiusInMeters / Math.sqrt(area / Math.PI)).toBeCloseTo(1, 3);
  });

  it.each([
    ['south', -80, 85, -85],
    ['south', -0.1, 50, -50],
    ['north', 0.1, -50, 50],
  ])('lies around the nearer pole, the one in the %s, at latitude %d', (_, latitude, outside, inside) => {
    const cap = shapeOf(polygonFence([[-150, -30, 90].map((longitude) => [latitude, longitude])]));
    expect([cap.contains(inside, 10), cap.contains(outside, 10)]).toEqual([true, false]);
  });

  it('may be wider than half of the earth', () => {
    const ring: [number, number][] = [
      [0, -10],
      [0, 130],
      [0, -90],
      [20, -90],
      [20, 130],
      [20, -10],
    ];
    const shape = shapeOf(polygonFence([ring]));
    expect([-11, -9, 130, -91.5, -89].map((longitude) => shape.contains(10, longitude))).toEqual([
      ...[false, true, true, true, false],
    ]);
  });

  it('holds the antimeridian under both of its names', () => {
    const ring: [number, number][] = [
      [10, 170],
      [10, 180],
      [20, 180],
      [20, 170],
    ];
    const shape = shapeOf(polygonFence([ring]));
    expect([shape.contains(15, 180), shape.contains(15, -180)]).toEqual([true, true]);
    expect(shape.boxes.some((box) => holds(box, 15, -180))).toBe(true);
  });
});

describe('a geofence that cannot be', () => {
  const circle = { latitude: 1, longitude: 2, radiusInMeters: 3 };
  const shapes = polygonFence([SQUARE]);

  it.each([
    ['both shapes', { circle, polygon: shapes.polygon }, 'either circle or polygon is wanted'],
    ['no shape', { circle: null, polygon: null }, 'either circle or polygon is wanted'],
    ['no radius', circleFence({ ...circle, radiusInMeters: 0 }), 'radiusInMeters is not above 0'],
    ['a radius that is not a number', circleFence({ ...circle, radiusInMeters: NaN }), 'radiusInMeters is not above 0'],
    ['a center off the earth', circleFence({ ...circle, latitude: 91 }), 'circle is not centered on a place on earth'],
    ['no ring', polygonFence([]), 'polygon has no outer ring'],
    ['a ring of two points', polygonFence([SQUARE.slice(0, 2)]), 'ring 0 has fewer than 3 different points'],
    ['a hole of one point', polygonFence([SQUARE, [[52, 5]]]), 'ring 1 has fewer than 3 different points'],
    [
      'a corner off the earth',
      polygonFence([[...SQUARE.slice(1), [52, 181]]]),
      'ring 0 has a point that is not on earth',
    ],
  ])('is refused for %s, and contains no place', (_what, geofence, fault) => {
    expect(geofenceFault(geofence)).toBe(fault);
    const shape = shapeOf(geofence);
    expect(shape).toMatchObject({ boxes: [], radiusInMeters: 0 });
    expect([shape.contains(1, 2), shape.contains(52.01, 5.01), shape.isBeyond(1, 2, 1e9)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('finds no fault with a circle or a polygon with a hole', () => {
    expect([geofenceFault(circleFence(circle)), geofenceFault(polygonFence([SQUARE, HOLE]))]).toEqual([null, null]);
  });
});
