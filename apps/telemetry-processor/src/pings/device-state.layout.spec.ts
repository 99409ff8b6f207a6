import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DeviceState, GeofenceVisit } from '@waypost/domain';
import { deviceGeofences } from '../../../../test/support/arbitrary-geofences.js';
import { trips } from '../../../../test/support/arbitrary-trips.js';
import { deviceStateLayout } from './device-state.layout.js';
import { plainState } from './testing/plain-state.js';

function maybe<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(arbitrary, { nil: null });
}
const time = fc.integer({ min: -(2 ** 52), max: 2 ** 52 });
const states: fc.Arbitrary<DeviceState> = fc.record({
  newestEventTime: time,
  ignition: maybe(fc.boolean()),
  lastSentTime: maybe(time),
  armed: fc.boolean(),
  fixTime: maybe(time),
  latitude: maybe(fc.double()),
  longitude: maybe(fc.double()),
  geofences: maybe(deviceGeofences(time)),
  trip: maybe(trips(time)),
});

/** What the store keeps beside the bytes, as a checkpoint brings it back. */
function keptAside(state: DeviceState): readonly GeofenceVisit[] | undefined {
  const overflow = deviceStateLayout.overflow?.of(state);
  return overflow && deviceStateLayout.overflow?.fromBytes(deviceStateLayout.overflow.toBytes(overflow));
}

describe('the layout of a device state', () => {
  it('reads back exactly what was written, at any place and over anything', () => {
    fc.assert(
      fc.property(states, states, fc.nat({ max: 9 }), (before, state, at) => {
        const view = new DataView(new ArrayBuffer(at + deviceStateLayout.byteLength));
        deviceStateLayout.write(view, at, before);
        deviceStateLayout.write(view, at, state);
        expect(plainState(deviceStateLayout.read(view, at, keptAside(state)))).toEqual(state);
      }),
    );
  });

  it('writes what it has read, over itself or another file, with later changes', () => {
    fc.assert(
      fc.property(states, states, time, (state, other, newestEventTime) => {
        const { byteLength } = deviceStateLayout;
        const view = new DataView(new ArrayBuffer(2 * byteLength));
        deviceStateLayout.write(view, 0, state);
        deviceStateLayout.write(view, byteLength, other);
        const read = deviceStateLayout.read(view, 0, keptAside(state));
        const { geofences, trip } = read;
        const changed = { ...plainState(read), newestEventTime };
        for (const at of [byteLength, 0]) {
          deviceStateLayout.write(view, at, { ...changed, geofences, trip });
          expect(plainState(deviceStateLayout.read(view, at, keptAside(state)))).toEqual({ ...state, newestEventTime });
        }
      }),
    );
  });

  it('keeps within its bytes', () => {
    const view = new DataView(new ArrayBuffer(deviceStateLayout.byteLength + 2));
    view.setUint8(0, 0xaa);
    view.setUint8(deviceStateLayout.byteLength + 1, 0xbb);
    const full = {
      newestEventTime: 1.5,
      lastSentTime: 2,
      fixTime: 3,
      latitude: -4,
      longitude: 5,
      trip: null,
      geofences: null,
    };
    deviceStateLayout.write(view, 1, { ...full, ignition: true, armed: true });
    expect(view.getUint8(0)).toBe(0xaa);
    expect(view.getUint8(deviceStateLayout.byteLength + 1)).toBe(0xbb);
  });
});
