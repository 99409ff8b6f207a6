import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { serializeEnvelope } from '../event/envelope.js';
import { eventId, RESOURCE_ID_NAMESPACE, resourceIdOf } from '../event/event-id.js';
import { serializeLegacyV1 } from '../event/legacy-v1.js';
import type { FleetEvent } from '../records/fleet-event.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { travel } from '../testing/journey.js';
import { north, ping, second } from '../testing/track.js';
import { eventOfRoute, type RouteChange } from './event-of-route.js';

const names = { vehicleId: 'van-7', licensePlate: 'AB-123-C', driverId: 'driver-9' };

/** 6 km/h for a minute, 20 s of standing, another minute, then the ignition goes off; and the start of the next route. */
const day: readonly TelemetryPing[] = [
  ping(0, { speed: 0, ignition: true }),
  ping(60, { speed: 6.5, north: 20 }),
  ping(120, { speed: 6, north: 120 }),
  ping(130, { speed: 1, north: 130 }),
  ping(150, { speed: 0, north: 135 }),
  ping(180, { speed: 6, north: 150 }),
  ping(210.5, { speed: 5, north: 200, ignition: false }),
  ping(250, { lost: true }),
  ping(500, { speed: 20, north: 300 }),
  ping(510, { speed: 20, north: 400 }),
].map((one) => ({ ...one, ...names, heading: 90, odometerInMeters: 5, rpm: 800 }));

const events: readonly FleetEvent[] = travel(day).decisions.flatMap((decision) =>
  decision.type === 'accepted' ? decision.events : [],
);

function eventDataOf(type: string): unknown {
  const event = events.find(({ eventType }) => eventType === type);
  if (event === undefined) throw new Error(`There is no ${type}.`);
  return (JSON.parse(serializeEnvelope(event, 'id')) as { readonly eventData: unknown }).eventData;
}

function iso(seconds: number): string {
  return new Date(second(seconds)).toISOString();
}
function idOf(kind: 'route' | 'stop', seconds: number): string {
  return resourceIdOf({ fleetId: 'fleet-1', deviceId: 'device-1', kind, startTime: second(seconds) });
}

const common = { deviceId: 'device-1', fleetId: 'fleet-1', ...names };

describe('the events of routes and stops (R-13)', () => {
  it('route_started says where and when the route began', () => {
    expect(eventDataOf('route_started')).toEqual({
      ...common,
      ...north(20),
      routeId: idOf('route', 60),
      startTime: iso(60),
      startLocation: north(20),
    });
  });

  it('route_finished has the figures of the route, from its first moving ping to its end', () => {
    expect(eventDataOf('route_finished')).toEqual({
      ...common,
      ...north(200),
      routeId: idOf('route', 60),
      startTime: iso(60),
      startLocation: north(20),
      endTime: iso(210.5),
      endLocation: north(200),
      distanceInMeters: 180,
      durationInSeconds: 150.5,
      maxSpeedInKmh: 6.5,
      averageSpeedInKmh: 4.3,
      idleTimeInSeconds: 20,
      endReason: 'ignition_off',
    });
  });

  it('have no empty text', () => {
    const unnamed = day.map((one) => ({ ...one, vehicleId: '', licensePlate: '', driverId: '' }));
    const texts = travel(unnamed).decisions.flatMap((decision) =>
      decision.type === 'accepted'
        ? decision.events
            .filter(({ resourceId }) => resourceId !== null)
            .map(({ vehicleId, licensePlate, driverId }) => [vehicleId, licensePlate, driverId])
        : [],
    );
    expect(texts).toEqual(Array(5).fill([null, null, null]));
  });

  it('rounds the distance to whole meters and the speed to one decimal, up from the middle', () => {
    const place = { latitude: 1, longitude: 2 };
    const change: RouteChange = {
      type: 'route_finished',
      ...place,
      startLocation: place,
      startTime: second(0),
      endReason: 'no_data',
      time: second(3_600),
      fixTime: second(3_600),
      distanceInMeters: 12_350.5,
      maxSpeedInKmh: null,
      idleMs: null,
    };
    expect(eventOfRoute(change, ping(3_600))).toMatchObject({ distanceInMeters: 12_351, averageSpeedInKmh: 12.4 });
  });

  it('stop_started and stop_finished share an activityId, and fit between two routes', () => {
    const stop = { ...common, activityId: idOf('stop', 210.5), startTime: iso(210.5) };
    expect(eventDataOf('stop_started')).toEqual({ ...stop, ...north(200) });
    const end = { endTime: iso(500), durationInSeconds: 289.5 };
    expect(eventDataOf('stop_finished')).toEqual({ ...stop, ...north(300), ...end });
  });

  it('happen when they happened, not when the ping came that shows it', () => {
    const times = events
      .filter(({ eventType }) => /^(route|stop)_/.test(eventType))
      .map(({ eventType, eventTime }) => [eventType, (eventTime - second(0)) / 1_000]);
    expect(times).toEqual([
      ['route_started', 60],
      ['route_finished', 210.5],
      ['stop_started', 210.5],
      ['stop_finished', 500],
      ['route_started', 500],
    ]);
  });

  it('come after the ignition and before the position of the ping (R-10)', () => {
    const track = [
      ping(0, { speed: 0, ignition: true }),
      ping(60, { speed: 9 }),
      ping(180, { speed: 9, north: 300 }),
      ping(190, { ignition: false, speed: 0, north: 310 }),
      ping(230, { ignition: true, speed: 9, north: 310 }),
      ping(410, { speed: 9, north: 600 }),
    ];
    const types = travel(track).decisions.map((decision) =>
      decision.type === 'accepted' ? decision.events.map(({ eventType }) => eventType).join(' ') : decision.type,
    );
    expect(types).toEqual([
      'position',
      '',
      'route_started position',
      'ignition_off position_sleep',
      'ignition_on route_finished stop_started position',
      'stop_finished route_started position',
    ]);
  });

  it('have only the ids of their resource in legacy-v1 (R-14)', () => {
    const finished = events.find(({ eventType }) => eventType === 'route_finished');
    const stopped = events.find(({ eventType }) => eventType === 'stop_started');
    const body = (event: FleetEvent | undefined): unknown =>
      event === undefined ? undefined : JSON.parse(serializeLegacyV1(event, 'id'));
    const flat = {
      event_id: 'id',
      fleet_id: 'fleet-1',
      device_id: 'device-1',
      timestamp: second(210.5),
      lat: north(200).latitude,
      lng: north(200).longitude,
      vehicle_id: 'van-7',
      license_plate: 'AB-123-C',
      driver_id: 'driver-9',
    };
    expect(body(finished)).toEqual({ ...flat, event: 'route_finished', route_id: idOf('route', 60) });
    expect(body(stopped)).toEqual({ ...flat, event: 'stop_started', activity_id: idOf('stop', 210.5) });
  });
});

const page = readFileSync(new URL('../../../../docs/reference/event-ids.md', import.meta.url), 'utf8');

/** The lines of the page's table of routes and stops. */
const vectors = [
  ...page.matchAll(/^\| `([^`]+)` +\| `([^`]+)` +\| `(route|stop)` +\| `([^`]+)` +\| `([^`]+)` +\|$/gm),
].map(([, ...cells]) => cells);

describe('the id of a route or stop (R-9)', () => {
  it('has published vectors', () => {
    expect(vectors).toHaveLength(4);
    expect(page).toContain(`\`${RESOURCE_ID_NAMESPACE}\``);
  });

  it.each(vectors)('gives %s %s %s %s the published id %s', (fleetId, deviceId, kind, startTime, published) => {
    const identity = {
      fleetId,
      deviceId,
      kind: kind === 'route' ? kind : 'stop',
      startTime: Date.parse(startTime),
    } as const;

    expect(resourceIdOf(identity)).toBe(published);
  });

  it('keeps events apart that happen in the same millisecond (R-12)', () => {
    const identity = { fleetId: 'f', subscriptionId: 's', deviceId: 'd', eventType: 'route_finished', eventTime: 1 };
    const ids = [idOf('route', 1), idOf('route', 2)].map((resourceId) => eventId({ ...identity, resourceId }));
    expect(new Set(ids).size).toBe(2);
  });
});
