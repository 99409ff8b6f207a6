import { describe, expect, it } from '@jest/globals';
import {
  createGeofenceHistory,
  decidePing,
  type DeviceState,
  EVENT_TYPES,
  evolveDevice,
  type FleetEvent,
  isAccepted,
  serializeBody,
  type TelemetryPing,
} from '@waypost/domain';
import { documentedResourceId } from '../../../../test/support/documented-event-id.js';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import { webhookExample } from './webhook-examples.js';

interface Body {
  readonly eventTime: string;
  readonly eventData: Readonly<Record<string, unknown>>;
}

const EVERYTHING = {
  vehicleId: 'v',
  licensePlate: 'p',
  driverId: 'd',
  altitudeInMeters: 1,
  heading: 1,
  odometerInMeters: 1,
  batteryVoltage: 1,
  connectionType: 'c',
  rpm: 1,
  fuelLevel: 1,
};

function ping(second: number, north: number, fields: Partial<TelemetryPing>): TelemetryPing {
  return pingOf({ ...EVERYTHING, eventTime: NOON + second * 1_000, latitude: 52 + north / 111_257, ...fields });
}

/** With an event of every type. */
const DRIVE: readonly TelemetryPing[] = [
  ping(0, 0, { ignition: false, speedInKmh: 0 }),
  ping(60, 1_000, { ignition: true, speedInKmh: 40 }),
  ping(70, 2_000, { speedInKmh: 40 }),
  ping(80, 4_000, { speedInKmh: 40 }),
  ping(90, 5_000, { speedInKmh: 40 }),
  ping(100, 6_000, { ignition: false, speedInKmh: 0, positionValid: false }),
  ping(140, 6_000, { speedInKmh: 0 }),
  ping(200, 7_000, { speedInKmh: 40 }),
  ping(210, 8_000, { speedInKmh: 40 }),
];

/** The first event of each type that the rules make of the drive. */
function madeEvents(): Map<string, FleetEvent> {
  const history = createGeofenceHistory();
  const { latitude, longitude } = ping(0, 2_000, {});
  const circle = { latitude: latitude ?? NaN, longitude: longitude ?? NaN, radiusInMeters: 300 };
  const names = { fleetId: 'fleet-1', geofenceId: 'g', name: 'Depot' };
  history.record('', { ...names, circle, polygon: null, version: 1, createdAt: 0, updatedAt: 0 }, 0);
  const events = new Map<string, FleetEvent>();
  let state: DeviceState | null = null;
  for (const one of DRIVE) {
    const decision = decidePing(state, one, one.receivedTime, undefined, { fleet: history.fleet('fleet-1') });
    if (!isAccepted(decision)) throw new Error(decision.type);
    state = evolveDevice(state, one, decision);
    for (const event of decision.events) if (!events.has(event.eventType)) events.set(event.eventType, event);
  }
  return events;
}

/** What holds between the fields of an event of that type, whatever happened. */
function relationsOf({ eventTime, eventData: data }: Body): object {
  const [startTime, endTime, enteredAt] = ['startTime', 'endTime', 'enteredAt'].map((field) => data[field]);
  const place = JSON.stringify({ latitude: data['latitude'], longitude: data['longitude'] });
  const seconds = (Date.parse(eventTime) - Date.parse(String(startTime ?? enteredAt))) / 1_000;
  const average = (Number(data['distanceInMeters']) / seconds) * 3.6;
  return {
    beginsNow: startTime === eventTime,
    beginsHere: JSON.stringify(data['startLocation']) === place,
    endsNow: endTime === eventTime,
    endsHere: JSON.stringify(data['endLocation']) === place,
    lastsSince: data['durationInSeconds'] === seconds,
    hasAverage: Math.abs(Number(data['averageSpeedInKmh']) - average) <= 0.05,
    isLocatedLater: typeof data['locationTime'] === 'string' && data['locationTime'] >= eventTime,
  };
}

describe('the published example', () => {
  const made = madeEvents();
  const resourceId = documentedResourceId();

  it.each([...EVENT_TYPES])('of %s is an event that the rules can make (R-13)', (type) => {
    const event = made.get(type);
    if (event === undefined) throw new Error('The drive has none.');
    const body = JSON.parse(serializeBody('v1', event, 'id')) as Body;
    const example = webhookExample(type, 'v1') as Body;

    expect(relationsOf(example)).toEqual(relationsOf(body));
    expect(Object.keys(body.eventData)).toEqual(expect.arrayContaining(Object.keys(example.eventData)));
  });

  it.each([
    ['route_started', 'route', 'routeId'],
    ['route_finished', 'route', 'routeId'],
    ['stop_started', 'stop', 'activityId'],
    ['stop_finished', 'stop', 'activityId'],
  ] as const)('of %s has the id of its %s (R-9)', (type, kind, field) => {
    const { fleetId, deviceId, startTime, [field]: id } = (webhookExample(type, 'v1') as Body).eventData;
    expect(id).toBe(resourceId(String(fleetId), String(deviceId), kind, String(startTime)));
  });
});
