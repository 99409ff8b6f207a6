import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import type { PathPoint } from '../history/path-history.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { decidePing } from '../rules/decide-ping.js';
import { checkPing } from './check-ping.js';
import { pathPointOf } from './path-of-ping.js';

const DAY_MS = 86_400_000;

/** The point of a ping that was appended when it was received. */
function pointOf(ping: TelemetryPing, key: string | null = 'device-1'): PathPoint | null {
  return pathPointOf(ping, key, ping.receivedTime);
}

describe('pathPointOf (R-36)', () => {
  it('shows what the ping reports', () => {
    const reported = {
      latitude: 52.1,
      longitude: 4.9,
      speedInKmh: 38.5,
      heading: 271,
      ignition: true,
      odometerInMeters: 123_456_789,
      rpm: 1_900,
      fuelLevel: 61.5,
    };
    expect(pointOf(pingOf(reported))).toEqual({
      fleetId: 'fleet-1',
      deviceId: 'device-1',
      eventTime: NOON,
      ...reported,
      valid: true,
    });
  });

  it('keeps a reported 0 and false, and leaves out what is not reported', () => {
    const still = pingOf({
      latitude: 0,
      longitude: 9,
      speedInKmh: 0,
      heading: 0,
      ignition: false,
      rpm: 0,
      fuelLevel: 0,
    });
    expect(pointOf(still)).toMatchObject({
      latitude: 0,
      speedInKmh: 0,
      heading: 0,
      ignition: false,
      odometerInMeters: null,
      rpm: 0,
      fuelLevel: 0,
    });
  });

  it.each([
    ['the device says so', { positionValid: false }, { latitude: 52.1, longitude: 4.9 }],
    ['a coordinate is missing', { latitude: null }, { latitude: null, longitude: 4.9 }],
    ['it is at (0,0)', { latitude: 0, longitude: 0 }, { latitude: 0, longitude: 0 }],
    ['it is out of range', { latitude: 91 }, { latitude: 91, longitude: 4.9 }],
    ['it is not a number', { latitude: Number.NaN, longitude: Infinity }, { latitude: null, longitude: null }],
  ])('is invalid when %s, with the coordinates as reported (R-5)', (_, fields, shown) => {
    expect(pointOf(pingOf(fields))).toMatchObject({ ...shown, valid: false });
  });

  it('takes numbers that no measurement can have as not reported', () => {
    const odd = pingOf({ speedInKmh: Number.NaN, heading: 360, fuelLevel: Infinity });
    expect(pointOf(odd)).toMatchObject({ speedInKmh: null, heading: null, fuelLevel: null });
    expect(pointOf(pingOf({ speedInKmh: -1 }))?.speedInKmh).toBeNull();
  });

  it.each([
    ['the newest of its device or a late one', 0],
    ['made 5 minutes after it was received', 300_000],
    ['received 15 days after it was made, or later', -16 * DAY_MS],
  ])('takes a ping that is %s', (_, aheadMs) => {
    expect(pointOf(pingOf({ receivedTime: NOON - aheadMs }))).not.toBeNull();
  });

  it.each([
    ['made more than 5 minutes after it was received', pingOf({ receivedTime: NOON - 300_001 }), 'device-1'],
    ['under the key of another device', pingOf(), 'device-2'],
    ['without a key', pingOf(), null],
    ['without a device', pingOf({ deviceId: '' }), ''],
    ['at no time', pingOf({ eventTime: -1 }), 'device-1'],
  ])('has nothing of a ping %s (R-2, R-3)', (_, ping, key) => expect(pointOf(ping, key)).toBeNull());

  it('takes exactly what the rules do not reject', () => {
    const time = fc.oneof(fc.integer({ min: -2, max: 2 }), fc.integer({ min: NOON - 400_000, max: NOON + 400_000 }));
    fc.assert(
      fc.property(
        time,
        time,
        time,
        fc.constantFrom('device-1', 'x', null),
        (eventTime, receivedTime, appendedAt, key) => {
          const ping = pingOf({ eventTime, receivedTime });
          const isRefused = decidePing(null, ping, appendedAt).type === 'rejected';
          const rejected = checkPing(ping, key).type !== 'valid' || isRefused;
          expect(pathPointOf(ping, key, appendedAt) === null).toBe(rejected);
        },
      ),
    );
  });
});
