import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import geographiclib from 'geographiclib-geodesic';
import { distanceInMeters, isWithinMeters } from './distance.js';

const earth = geographiclib.Geodesic.WGS84;

interface Leg {
  readonly from: { readonly latitude: number; readonly longitude: number };
  readonly to: { readonly latitude: number; readonly longitude: number };
  readonly meters: number;
}

/** A way of exactly that length, as the geodesic goes. */
function legs(maxLatitude: number, maxMeters: number): fc.Arbitrary<Leg> {
  return fc
    .record({
      latitude: fc.double({ min: -maxLatitude, max: maxLatitude, noNaN: true }),
      longitude: fc.double({ min: -180, max: 180, noNaN: true }),
      azimuth: fc.double({ min: 0, max: 360, noNaN: true }),
      meters: fc.double({ min: 1, max: maxMeters, noNaN: true }),
    })
    .map(({ latitude, longitude, azimuth, meters }) => {
      const { lat2 = NaN, lon2 = NaN } = earth.Direct(latitude, longitude, azimuth, meters);
      return { from: { latitude, longitude }, to: { latitude: lat2, longitude: lon2 }, meters };
    });
}

function measured({ from, to }: Leg): number {
  return distanceInMeters(from.latitude, from.longitude, to.latitude, to.longitude);
}

describe('the distance between two fixes', () => {
  it.each([
    ['1 km', 80, 1_000, 1e-6],
    ['100 km', 65, 100_000, 1e-4],
    ['250 km', 65, 250_000, 5e-4],
  ])('agrees with the geodesic up to %s below %d degrees, the antimeridian included', (_name, latitude, km, share) => {
    fc.assert(
      fc.property(legs(latitude, km), (leg) => {
        // Degrees of longitude have no more digits than a millimeter near 180.
        expect(Math.abs(measured(leg) - leg.meters)).toBeLessThan(leg.meters * share + 0.001);
      }),
    );
  });

  it('is symmetric, and zero between equal points', () => {
    fc.assert(
      fc.property(legs(85, 10_000), ({ from, to, meters }) => {
        expect(measured({ from: to, to: from, meters })).toBe(measured({ from, to, meters }));
        expect(measured({ from, to: from, meters })).toBe(0);
      }),
    );
  });

  const places = fc.tuple(
    fc.double({ min: -90, max: 90, noNaN: true }),
    fc.double({ min: -180, max: 180, noNaN: true }),
  );

  it('is less than a limit exactly where the comparison says so', () => {
    const limits = fc.double({ min: 0, max: 20_000, noNaN: true });
    fc.assert(
      fc.property(legs(90, 10_000), limits, ({ from, to, meters }, limit) => {
        const distance = distanceInMeters(from.latitude, from.longitude, to.latitude, to.longitude);
        for (const asked of [limit, distance, meters]) {
          expect(isWithinMeters(asked, from.latitude, from.longitude, to.latitude, to.longitude)).toBe(
            distance < asked,
          );
        }
      }),
    );
    fc.assert(
      fc.property(places, places, limits, (from, to, limit) => {
        expect(isWithinMeters(limit, ...from, ...to)).toBe(distanceInMeters(...from, ...to) < limit);
      }),
    );
  });

  it('is a number for any two places there are', () => {
    fc.assert(
      fc.property(places, places, (from, to) => expect(distanceInMeters(...from, ...to)).toBeGreaterThanOrEqual(0)),
    );
  });
});
