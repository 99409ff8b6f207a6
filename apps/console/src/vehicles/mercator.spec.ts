import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fit, fromScreen, meterOnMap, pan, pinch, placeOf, project, roundLength, toScreen, zoom } from './mercator.js';

const [WIDTH, HEIGHT] = [800, 500];
const places = fc.record({
  latitude: fc.double({ min: -80, max: 80, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
});

describe('the map', () => {
  it('has its corners and its middle where Web Mercator has them', () => {
    expect(project({ latitude: 0, longitude: 0 })).toEqual({ x: 0.5, y: 0.5 });
    const corner = project({ latitude: 85.051129, longitude: -180 });
    expect([corner.x, corner.y]).toEqual([0, expect.closeTo(0, 6)]);
    // The tile of Berlin at zoom 10 is 550/335.
    const berlin = project({ latitude: 52.52, longitude: 13.405 });
    expect([Math.floor(berlin.x * 1024), Math.floor(berlin.y * 1024)]).toEqual([550, 335]);
  });

  it('shows all points that it is fitted to', () => {
    fc.assert(
      fc.property(fc.array(places, { minLength: 1, maxLength: 20 }), (some) => {
        const points = some.map(project);
        const view = fit(points, WIDTH, HEIGHT);
        for (const point of points) {
          const { x, y } = toScreen(point, view, WIDTH, HEIGHT);
          expect(x >= 0 && x <= WIDTH && y >= 0 && y <= HEIGHT).toBe(true);
        }
      }),
    );
  });

  it('keeps the point under the pointer when it zooms, and moves with it when it is dragged', () => {
    const view = fit(
      [project({ latitude: 52, longitude: 13 }), project({ latitude: 53, longitude: 14 })],
      WIDTH,
      HEIGHT,
    );
    const point = project({ latitude: 52.3, longitude: 13.2 });
    const at = toScreen(point, view, WIDTH, HEIGHT);
    const zoomed = toScreen(point, zoom(view, 3, at, WIDTH, HEIGHT), WIDTH, HEIGHT);
    expect([zoomed.x, zoomed.y]).toEqual([expect.closeTo(at.x, 6), expect.closeTo(at.y, 6)]);
    const dragged = toScreen(point, pan(view, 30, -20), WIDTH, HEIGHT);
    expect([dragged.x, dragged.y]).toEqual([expect.closeTo(at.x + 30, 6), expect.closeTo(at.y - 20, 6)]);
  });

  it('zooms no further out than the whole world, and no further in than a few meters', () => {
    const middle = { x: WIDTH / 2, y: HEIGHT / 2 };
    const zoomed = (factor: number) => {
      let view = fit([project({ latitude: 52, longitude: 13 })], WIDTH, HEIGHT);
      for (let count = 0; count < 100; count += 1) view = zoom(view, factor, middle, WIDTH, HEIGHT);
      return view.worldPx;
    };
    expect(zoomed(0.5)).toBe(0.85 * HEIGHT);
    expect(1 / meterOnMap(0) / zoomed(2)).toBeCloseTo(0.05, 9);
  });

  it('is not dragged out of sight', () => {
    const world = fit([], WIDTH, HEIGHT);
    expect(pan(world, 10 * WIDTH, -10 * HEIGHT).center).toEqual({ x: 0, y: 1 });
  });

  it('keeps what was under two fingers under them, wherever they move', () => {
    const screen = fc.record({ x: fc.integer({ min: 0, max: WIDTH }), y: fc.integer({ min: 0, max: HEIGHT }) });
    const view = fit([project({ latitude: 52, longitude: 13 })], WIDTH, HEIGHT);
    fc.assert(
      fc.property(screen, screen, screen, fc.double({ min: 0.2, max: 5, noNaN: true }), (one, other, to, factor) => {
        fc.pre(Math.hypot(one.x - other.x, one.y - other.y) > 1);
        const moved = { x: to.x + factor * (other.x - one.x), y: to.y + factor * (other.y - one.y) };
        const pinched = pinch(view, [one, other], [to, moved], { width: WIDTH, height: HEIGHT });
        for (const [was, is] of [
          [one, to],
          [other, moved],
        ] as const) {
          const { x, y } = toScreen(fromScreen(was, view, WIDTH, HEIGHT), pinched, WIDTH, HEIGHT);
          expect([x, y]).toEqual([expect.closeTo(is.x, 3), expect.closeTo(is.y, 3)]);
        }
      }),
    );
  });

  it('finds the place of a point again', () => {
    fc.assert(
      fc.property(places, (place) => {
        const found = placeOf(project(place));
        expect(found.latitude).toBeCloseTo(place.latitude, 6);
        expect(found.longitude).toBeCloseTo(place.longitude, 6);
      }),
    );
  });

  it('finds the point of the map under a point of the screen', () => {
    fc.assert(
      fc.property(places, places, (one, other) => {
        const view = fit([one, other].map(project), WIDTH, HEIGHT);
        const found = fromScreen(toScreen(project(one), view, WIDTH, HEIGHT), view, WIDTH, HEIGHT);
        expect(found.x).toBeCloseTo(project(one).x, 9);
        expect(found.y).toBeCloseTo(project(one).y, 9);
      }),
    );
  });

  it.each([
    [1, 1],
    [199, 100],
    [499, 200],
    [7_300, 5_000],
  ])('rounds a scale of %d m to %d m', (meters, round) => {
    expect(roundLength(meters)).toBe(round);
  });

  it('makes a meter larger away from the equator', () => {
    expect(meterOnMap(60) / meterOnMap(0)).toBeCloseTo(2, 6);
  });
});
