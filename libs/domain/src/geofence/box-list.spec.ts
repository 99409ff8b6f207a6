import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { boxListOf, within } from './box-list.js';
import { GeofenceVersion } from './geofence-version.js';
import { circleFence } from './testing/geofences.js';

const HERE = { latitude: 52, longitude: 5 };
const COUNT = 200;

function around(count: number): GeofenceVersion[] {
  return Array.from({ length: count }, (_, number) => {
    const circle = { ...HERE, radiusInMeters: 100 + number };
    return new GeofenceVersion(circleFence(circle, { geofenceId: String(number) }), 0, 0);
  });
}

/** What every list is read by that is copied into another. */
const iterator = Object.getPrototypeOf([][Symbol.iterator]()) as ArrayIterator<unknown>;

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the boxes around a place', () => {
  it('are found without a copy where there is one', () => {
    const boxes = boxListOf(around(1));
    expect(within(boxes, HERE.latitude, HERE.longitude)).toBe(boxes.alone[0]);
  });

  it('are read once each where there are many, however many were found before', () => {
    const versions = around(COUNT);
    const boxes = boxListOf(versions);
    const reads = jest.spyOn(iterator, 'next');
    const found = within(boxes, HERE.latitude, HERE.longitude);
    const count = reads.mock.calls.length;
    reads.mockRestore();
    expect(found).toEqual(versions);
    // Each list has one element, and an end.
    expect(count).toBe(2 * COUNT);
  });
});
