import { describe, expect, it } from '@jest/globals';
import { EVENT_TYPES, TEST_EVENT_TYPE } from '@waypost/domain';
import { createBodyCheck } from '../../../../test/support/published-schemas.js';

const complaintsOf = createBodyCheck();

const COMMON = { deviceId: 'd-1', fleetId: 'f-1' };
const TIME = '2026-03-01T10:00:00.000Z';
const ID = '6f2b1f2e-0d6c-5f83-9a77-0a2f4c1b8f11';
const PLACE = { latitude: 48.1, longitude: 11.5 };
const ROUTE = { routeId: ID, startTime: TIME, startLocation: PLACE };

/** The least that R-13 asks of each type. */
const LEAST: Readonly<Record<string, object>> = {
  geofence_in: { geofenceId: 'g-1', geofenceName: 'Depot' },
  geofence_out: { geofenceId: 'g-1', geofenceName: 'Depot' },
  route_started: ROUTE,
  route_finished: {
    ...ROUTE,
    endTime: TIME,
    endLocation: PLACE,
    distanceInMeters: 0,
    durationInSeconds: 0,
    averageSpeedInKmh: 0,
    endReason: 'ignition_off',
  },
  stop_started: { activityId: ID, startTime: TIME },
  stop_finished: { activityId: ID, startTime: TIME, endTime: TIME, durationInSeconds: 0 },
};

function bodyOf(eventType: string, more: object = {}, envelope: object = {}): string {
  return JSON.stringify({
    eventId: ID,
    eventTime: TIME,
    eventType,
    eventData: { ...COMMON, ...LEAST[eventType], ...more },
    ...envelope,
  });
}

describe('the published schemas of bodies (R-11, R-13)', () => {
  it.each([...EVENT_TYPES, TEST_EVENT_TYPE])('take the least that %s has', (type) => {
    expect(complaintsOf(bodyOf(type))).toEqual([]);
  });

  it.each([...EVENT_TYPES])('take a reported 0 or false in %s', (type) => {
    const zeros = {
      latitude: 0,
      longitude: 0,
      speedInKmh: 0,
      heading: 0,
      ignition: false,
      odometerInMeters: 0,
      rpm: 0,
    };
    expect(complaintsOf(bodyOf(type, zeros))).toEqual([]);
  });

  it.each(Object.keys(LEAST).flatMap((type) => Object.keys(LEAST[type] ?? {}).map((field) => [type, field] as const)))(
    'refuse %s without %s',
    (type, field) => expect(complaintsOf(bodyOf(type, { [field]: undefined }))).not.toEqual([]),
  );

  it.each([
    ['null for unknown', bodyOf('position', { speedInKmh: null })],
    ...['vehicleId', 'licensePlate', 'driverId', 'connectionType'].map((field): [string, string] => [
      `an empty ${field}`,
      bodyOf('position', { [field]: '' }),
    ]),
    ['a field that the type does not have', bodyOf('position', { geofenceId: 'g-1' })],
    ['a heading of 360', bodyOf('position', { heading: 360 })],
    ['a time without milliseconds', bodyOf('position', {}, { eventTime: '2026-03-01T10:00:00Z' })],
    ['a time with an offset', bodyOf('position', {}, { eventTime: '2026-03-01T10:00:00.000+00:00' })],
    ['an event id that is not a UUID', bodyOf('position', {}, { eventId: '1' })],
    ['anything beside the envelope', bodyOf('position', {}, { version: 1 })],
    ['an unknown type', bodyOf('takeoff')],
    ['what is not JSON', '{'],
  ])('refuse %s', (_what, body) => expect(complaintsOf(body)).not.toEqual([]));
});

describe('the published schema of legacy-v1 (R-14)', () => {
  const body = { event_id: ID, event: 'position', fleet_id: 'f-1', device_id: 'd-1', timestamp: 1_772_359_200_000 };

  it('takes the least, and every field that may be known', () => {
    const all = {
      lat: 1,
      lng: 2,
      speed: 0,
      direction: 0,
      ignition: 0,
      odometer: 12.3,
      vehicle_id: 'v',
      license_plate: 'p',
      driver_id: 'd',
      battery: 12.5,
      rpm: 0,
      fuel_level: 0,
      geofence_id: 'g',
      geofence_name: '',
      route_id: ID,
    };
    expect(complaintsOf(JSON.stringify(body))).toEqual([]);
    expect(complaintsOf(JSON.stringify({ ...body, ...all, activity_id: ID }))).toEqual([]);
  });

  it.each([
    ['a boolean ignition', { ignition: true }],
    ['a time as text', { timestamp: TIME }],
    ['nesting', { eventData: {} }],
    ['null', { lat: null }],
    ['an empty text', { driver_id: '' }],
  ])('refuses %s', (_what, more) => expect(complaintsOf(JSON.stringify({ ...body, ...more }))).not.toEqual([]));
});
