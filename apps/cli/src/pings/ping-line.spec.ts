import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pingOf as samplePing } from '../../../../test/support/samples.js';
import { pingOf, type TrackRow } from './ping-line.js';

const row: TrackRow = { deviceId: 'bus-7', eventTime: '2015-03-07T06:00:22.000Z' };
const eventTime = Date.UTC(2015, 2, 7, 6, 0, 22);

function build(more: TrackRow = {}, options: Partial<Parameters<typeof pingOf>[1]> = {}) {
  const result = pingOf({ ...row, ...more }, { fleetId: 'f', shiftMs: 0, keepReceivedTime: false, ...options });
  if (result.type === 'invalid') throw new Error(result.detail);
  return result.ping;
}

function problem(more: TrackRow): string {
  const result = pingOf({ ...row, ...more }, { fleetId: 'f', shiftMs: 0, keepReceivedTime: false });
  return result.type === 'invalid' ? result.detail : 'none';
}

describe('A row of a track file', () => {
  it('becomes a ping that reports nothing that the row lacks', () => {
    const nothing = { positionValid: false, latitude: null, longitude: null };
    expect(build()).toEqual(samplePing({ fleetId: 'f', deviceId: 'bus-7', eventTime, ...nothing }));
  });

  it.each<[string, TrackRow, object]>([
    ['speedKmh', { speedKmh: 410.38 }, { speedInKmh: 410.38 }],
    ['headingDeg', { headingDeg: 223.6 }, { heading: 223.6 }],
    ['altitudeM', { altitudeM: -56.4 }, { altitudeInMeters: -56.4 }],
    ['seq', { seq: 33_585 }, { sequence: 33_585 }],
    ['odometerM', { odometerM: 12.6 }, { odometerInMeters: 13 }],
    ['rpm', { rpm: 0 }, { rpm: 0 }],
    ['ignition', { ignition: false }, { ignition: false }],
    ["the schema's own names", { speedInKmh: 3, heading: 4, sequence: 5 }, { speedInKmh: 3, heading: 4, sequence: 5 }],
    ['null, as absent', { speedKmh: null, ignition: null }, { speedInKmh: null, ignition: null }],
    ['360 degrees, as north', { headingDeg: 360 }, { heading: 0 }],
  ])('is understood in %s', (_what, more, expected) => {
    expect(build(more)).toMatchObject({ ...expected, attributes: {} });
  });

  it.each([
    [{ latitude: 30.2, longitude: -97.7 }, true],
    [{ latitude: 0, longitude: 0 }, true],
    [{ latitude: 30.2 }, false],
    [{ longitude: -97.7 }, false],
    [{ latitude: 30.2, longitude: -97.7, positionValid: false }, false],
  ])('has a valid position when both coordinates are there and nothing else is said: %j', (more, expected) => {
    expect(build(more).positionValid).toBe(expected);
  });

  it('keeps what the schema does not have as attributes', () => {
    expect(build({ tripId: '1391220', routeId: 411, extra: { a: 1 }, attributes: { x: 'y' } }).attributes).toEqual({
      tripId: '1391220',
      routeId: '411',
      extra: '{"a":1}',
      x: 'y',
    });
  });

  it.each([
    ['headingDeg', 492.6, 'heading'],
    ['rpm', 3e9, 'rpm'],
    ['seq', 2 ** 60, 'sequence'],
  ])('keeps a number that does not fit its field as an attribute: %s %d', (name, value, field) => {
    const ping = build({ [name]: value });
    expect(ping).toMatchObject({ [field]: null, attributes: { [name]: String(value) } });
  });

  it('uses the event time as received time unless the received time is kept', () => {
    const receivedTime = '2015-03-08T00:00:00.000Z';
    expect(build({ receivedTime }).receivedTime).toBe(eventTime);
    expect(build({ receivedTime }, { keepReceivedTime: true }).receivedTime).toBe(Date.parse(receivedTime));
    expect(build({}, { keepReceivedTime: true }).receivedTime).toBe(eventTime);
  });

  it('moves all its times by the same shift', () => {
    const ping = build({ receivedTime: '2015-03-08T00:00:00Z' }, { keepReceivedTime: true, shiftMs: 1_000 });
    expect(ping).toMatchObject({ eventTime: eventTime + 1_000, receivedTime: Date.UTC(2015, 2, 8) + 1_000 });
  });

  it.each([
    [{ deviceId: undefined }, 'it has no deviceId'],
    [{ deviceId: '' }, 'it has no deviceId'],
    [{ deviceId: 7 }, 'deviceId is not a string'],
    [{ eventTime: undefined }, 'it has no eventTime'],
    [{ eventTime: 'yesterday' }, 'eventTime is not an ISO 8601 time'],
    [{ latitude: '30.2' }, 'latitude is not a number'],
    [{ ignition: 1 }, 'ignition is not true or false'],
  ])('is refused when it is not a ping: %j', (more, expected) => expect(problem(more)).toBe(expected));

  it('never gives a heading outside 0 to 360', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (headingDeg) => {
        const { heading } = build({ headingDeg });
        return heading === null || (heading >= 0 && heading < 360);
      }),
    );
  });
});
