import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decimalsOf, graticuleOf, latitudeText, longitudeText } from './graticule.js';
import { fit, type Place, project, toScreen } from './mercator.js';

const [WIDTH, HEIGHT] = [800, 500];

function around(...places: readonly Place[]) {
  return fit(places.map(project), WIDTH, HEIGHT);
}

describe('the graticule of a map', () => {
  it('has round degrees around what is shown', () => {
    const { longitudes, latitudes, stepDegrees } = graticuleOf(
      around({ latitude: 52, longitude: 13 }, { latitude: 53, longitude: 14 }),
      WIDTH,
      HEIGHT,
    );
    expect(stepDegrees).toBe(0.5);
    expect(latitudes).toEqual([52, 52.5, 53]);
    expect(longitudes).toEqual([12, 12.5, 13, 13.5, 14, 14.5, 15]);
  });

  it('does not go around the world', () => {
    const { longitudes } = graticuleOf({ center: { x: 0.5, y: 0.5 }, worldPx: 400 }, WIDTH, HEIGHT);
    expect(longitudes).toEqual([-180, -90, 0, 90, 180]);
  });

  it('has lines in sight wherever one looks, and not too many to read', () => {
    const places = fc.record({
      latitude: fc.double({ min: -80, max: 80, noNaN: true }),
      longitude: fc.double({ min: -179, max: 179, noNaN: true }),
    });
    fc.assert(
      fc.property(places, places, (one, other) => {
        const view = around(one, other);
        const { longitudes, latitudes } = graticuleOf(view, WIDTH, HEIGHT);
        expect(longitudes.length).toBeGreaterThan(0);
        expect(latitudes.length).toBeGreaterThan(0);
        const xs = longitudes.map((longitude) => toScreen(project({ latitude: 0, longitude }), view, WIDTH, HEIGHT).x);
        for (const [index, x] of xs.entries()) {
          expect(x).toBeGreaterThanOrEqual(-1e-3);
          expect(x).toBeLessThanOrEqual(WIDTH + 1e-3);
          if (index > 0) expect(x - (xs[index - 1] ?? 0)).toBeGreaterThan(50);
        }
      }),
    );
  });

  it('names degrees by their side of the equator and of Greenwich, as precisely as its lines are apart', () => {
    expect([latitudeText(52.5, 1), latitudeText(-33.9, 1), latitudeText(0, 0)]).toEqual(['52.5° N', '33.9° S', '0°']);
    expect([longitudeText(13.4, 2), longitudeText(-0.1276, 3)]).toEqual(['13.40° E', '0.128° W']);
    expect([90, 1, 0.5, 0.05, 0.000_02].map(decimalsOf)).toEqual([0, 0, 1, 2, 5]);
  });
});
