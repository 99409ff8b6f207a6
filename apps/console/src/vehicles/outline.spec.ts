import { describe, expect, it } from '@jest/globals';
import { type MapView, project } from './mercator.js';
import { dashesOf } from './outline.js';

/** 512 px show a tenth of a degree. */
const TOWN: MapView = { center: project({ latitude: 52, longitude: 13 }), worldPx: 512 * 3_600 };

function square(degrees: number) {
  const [west, south] = [13, 52];
  const corners = [
    [west, south],
    [west + degrees, south],
    [west + degrees, south + degrees],
    [west, south + degrees],
    [west, south],
  ];
  return { type: 'polygon' as const, coordinates: [corners] };
}

function circle(radiusInMeters: number) {
  return { type: 'circle' as const, center: { latitude: 52, longitude: 13 }, radiusInMeters };
}

describe('the outline of a geofence', () => {
  it('is dashed where it fits on the screen or a few screens', () => {
    for (const shape of [circle(100), circle(20_000), square(0.01), square(1)])
      expect(dashesOf(shape, TOWN)).not.toEqual([]);
  });

  it('has no dashes where nearly all of them would lie outside of the screen', () => {
    for (const shape of [circle(1_000_000), square(10)]) expect(dashesOf(shape, TOWN)).toEqual([]);
  });

  it('counts the outlines of holes', () => {
    const [outer = []] = square(1).coordinates;
    const sieve = { type: 'polygon' as const, coordinates: Array.from({ length: 20 }, () => outer) };
    expect(dashesOf(sieve, TOWN)).toEqual([]);
  });
});
