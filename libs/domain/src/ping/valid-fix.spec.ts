import { describe, expect, it } from '@jest/globals';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { decidePing, type PingDecision } from '../rules/decide-ping.js';

/** The first ping of a device. */
function decide(fields: Partial<TelemetryPing>): PingDecision {
  return decidePing(null, pingOf({ eventTime: NOON, ...fields }), NOON);
}

describe('a valid fix (R-5)', () => {
  it.each([
    ['the device doubts it', { positionValid: false }],
    ['the latitude is missing', { latitude: null }],
    ['the longitude is missing', { longitude: null }],
    ['it is (0,0)', { latitude: 0, longitude: 0 }],
    ['it is (-0,0)', { latitude: -0, longitude: 0 }],
    ['the latitude is above 90', { latitude: 90.000001 }],
    ['the latitude is below -90', { latitude: -90.000001 }],
    ['the longitude is above 180', { longitude: 180.000001 }],
    ['the longitude is below -180', { longitude: -180.000001 }],
    ['the latitude is not a number', { latitude: Number.NaN }],
    ['the longitude is endless', { longitude: -Infinity }],
  ])('is not there when %s', (_, fields) => {
    expect(decide(fields)).toMatchObject({ type: 'accepted', events: [], position: 'invalid_fix' });
  });

  it.each([
    ['on the equator', 0, 4.9],
    ['on the prime meridian', 51.5, 0],
    ['at the north pole', 90, 180],
    ['at the south pole', -90, -180],
  ])('may lie %s', (_, latitude, longitude) => {
    expect(decide({ latitude, longitude })).toMatchObject({ position: 'sent' });
  });
});
