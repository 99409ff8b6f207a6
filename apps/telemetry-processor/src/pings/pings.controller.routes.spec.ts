import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AvroCodecs, createAvroCodecs } from '@waypost/contracts';
import {
  createFleetSettingsHistory,
  createGeofenceHistory,
  type FleetEvent,
  type Geofence,
  geofenceKey,
  type RuleSet,
  type TelemetryPing,
  traceOfPing,
} from '@waypost/domain';
import { createTopologyTestDriver, type TopologyTestDriver } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { NOON, pingOf } from '../../../../test/support/samples.js';
import { type FleetHistories, knownFleets } from '../fleets/fleet-directory.js';
import { pingTopology } from './testing/ping-topology.js';

const noMetrics = { pingDecided: () => undefined, eventEmitted: () => undefined };

let codecs: AvroCodecs;
let histories: FleetHistories;
/** Records of the settings that are appended and not read yet. */
let unread: (() => void)[];
let version: number;

/** The fleet asks for routes, or no longer does: appended at that time of the broker. */
function setRoutes(routes: boolean, appendedAt: number): void {
  const fleet = { fleetId: 'fleet-1', name: null, payloadFormat: 'v1', createdAt: 0, updatedAt: 0 };
  const settings = { ...fleet, routes, version: ++version };
  unread.push(() => histories.settings.record('fleet-1', settings, appendedAt));
}

beforeEach(async () => {
  histories = { geofences: createGeofenceHistory(), settings: createFleetSettingsHistory() };
  unread = [];
  version = 0;
  codecs = createAvroCodecs({ registry: createMemoryRegistry(), now: () => 0 });
  await Promise.all(Object.values(codecs).map((codec) => codec.prepare()));
  const ids = Array.from({ length: 20 }, (_, index) => index + 1);
  await Promise.all([codecs.fleetEvents.resolve(ids), codecs.deviceState.resolve(ids)]);
});

function driverOf(rules?: RuleSet): TopologyTestDriver {
  const caughtUp = (): Promise<void> => {
    for (const read of unread.splice(0)) read();
    return Promise.resolve();
  };
  const deps = { codecs, fleets: { ...knownFleets(histories), caughtUp }, metrics: noMetrics };
  const topology = pingTopology(rules === undefined ? deps : { ...deps, rules });
  return createTopologyTestDriver({ topology, partition: 0 });
}

/** Two minutes on the road, then the ignition goes off, and half a minute later it still is. */
const drive: readonly TelemetryPing[] = [
  pingOf({ eventTime: NOON, speedInKmh: 0, ignition: true }),
  pingOf({ eventTime: NOON + 60_000, speedInKmh: 36, latitude: 52.105 }),
  pingOf({ eventTime: NOON + 120_000, speedInKmh: 36, latitude: 52.11 }),
  pingOf({ eventTime: NOON + 170_000, speedInKmh: 0, latitude: 52.112, ignition: false }),
  pingOf({ eventTime: NOON + 200_000, speedInKmh: 0, latitude: 52.112 }),
];

/** Each ping is appended at its event time. */
async function eventsOf(driver: TopologyTestDriver, pings: readonly TelemetryPing[]): Promise<FleetEvent[][]> {
  const made: FleetEvent[][] = [];
  for (const ping of pings) {
    const record = { key: Buffer.from('device-1'), value: codecs.telemetryPings.encode(ping) };
    const written = await driver.pipe({ ...record, timestamp: ping.eventTime });
    made.push(
      written.map(({ value }) => {
        const decoded = codecs.fleetEvents.decode(value ?? Buffer.alloc(0));
        if (decoded.type !== 'decoded') throw new Error(decoded.type);
        return decoded.value;
      }),
    );
  }
  return made;
}

function typesOf(made: readonly (readonly FleetEvent[])[]): string[] {
  return made.map((events) => events.map(({ eventType }) => eventType).join(' '));
}

function tripsOf(driver: TopologyTestDriver) {
  return driver
    .written()
    .filter(({ topic }) => topic === 'telemetry-processor.device-state')
    .map(({ value }) => {
      const decoded = codecs.deviceState.decode(value ?? Buffer.alloc(0));
      return decoded.type === 'decoded' ? decoded.value.trip : decoded.type;
    });
}

const WITH_ROUTES = ['position', '', 'route_started', 'ignition_off position_sleep', 'route_finished stop_started'];
const WITHOUT_ROUTES = ['position', '', '', 'ignition_off position_sleep', ''];

describe('routes and stops in the telemetry processor', () => {
  beforeEach(() => {
    setRoutes(true, NOON);
  });

  it('are events of their device, in the order of R-10', async () => {
    expect(typesOf(await eventsOf(driverOf(), drive))).toEqual(WITH_ROUTES);
  });

  it('go through fleet.events with all their fields', async () => {
    const finished = (await eventsOf(driverOf(), drive)).flat().find(({ eventType }) => eventType === 'route_finished');
    expect(finished).toMatchObject({
      resourceId: finished?.routeId,
      startTime: NOON + 60_000,
      startLocation: { latitude: 52.105, longitude: 4.9 },
      eventTime: NOON + 170_000,
      endTime: NOON + 170_000,
      endLocation: { latitude: 52.112, longitude: 4.9 },
      distanceInMeters: 779,
      durationInSeconds: 110,
      maxSpeedInKmh: 36,
      averageSpeedInKmh: 25.5,
      idleTimeInSeconds: 0,
      endReason: 'ignition_off',
    });
  });

  it('are kept with the state of the device, on the way and at a stop', async () => {
    const driver = driverOf();
    await eventsOf(driver, drive);
    expect(tripsOf(driver)).toMatchObject([
      { since: null, moving: false, route: null },
      { since: null, moving: true, maxSpeedInKmh: 36, route: null },
      { since: NOON + 60_000, route: { standing: false, ignitionOffSince: null } },
      { since: NOON + 60_000, route: { standing: true, ignitionOffSince: NOON + 170_000 } },
      { since: NOON + 170_000, latitude: 52.112, route: null },
    ]);
  });

  it('are in the trace of their ping, and name it where their time differs from that of the ping (R-46)', async () => {
    const driver = driverOf();
    const named: boolean[] = [];
    for (const ping of drive) {
      const record = { key: Buffer.from('device-1'), value: codecs.telemetryPings.encode(ping) };
      for (const { value, headers = [] } of await driver.pipe({ ...record, timestamp: ping.eventTime })) {
        const decoded = codecs.fleetEvents.decode(value ?? Buffer.alloc(0));
        if (decoded.type !== 'decoded') throw new Error(decoded.type);
        const [given] = headers.map((header) => String(header.value));
        // As readers of the event work it out.
        expect(given ?? traceOfPing(decoded.value, null)).toBe(traceOfPing(ping, null));
        named.push(given !== undefined);
      }
    }
    expect(named).toEqual([false, true, false, false, true, true]);
  });

  it('are in the trace that their ping came with, whatever time they name (R-46)', async () => {
    const driver = driverOf();
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = [{ key: 'traceparent', value: Buffer.from(`00-${traceId}-00f067aa0ba902b7-01`) }];
    const traces: (string | undefined)[] = [];
    for (const ping of drive) {
      const record = { key: Buffer.from('device-1'), value: codecs.telemetryPings.encode(ping), headers };
      const written = await driver.pipe({ ...record, timestamp: ping.eventTime });
      traces.push(...written.map((event) => String(event.headers?.[0]?.value).split('-')[1]));
    }
    expect(traces).toEqual(Array.from({ length: 6 }, () => traceId));
  });

  it('do not exist with the position rules only', async () => {
    expect(typesOf(await eventsOf(driverOf('positions'), drive))).toEqual(WITHOUT_ROUTES);
  });
});

describe('routes and stops by fleet (R-9)', () => {
  it('are neither made nor stored while no fleet has them on', async () => {
    const driver = driverOf();
    setRoutes(false, NOON);
    expect(typesOf(await eventsOf(driver, drive))).toEqual(WITHOUT_ROUTES);
    expect(tripsOf(driver)).toEqual([null, null, null, null, null]);
  });

  it('are not made for a fleet that was never heard of', async () => {
    expect(typesOf(await eventsOf(driverOf(), drive))).toEqual(WITHOUT_ROUTES);
  });

  it('are made only for the fleet that has them on', async () => {
    setRoutes(true, NOON);
    const driver = driverOf();
    const others = drive.map((ping) => ({ ...ping, fleetId: 'fleet-2' }));
    expect(typesOf(await eventsOf(driver, others))).toEqual(WITHOUT_ROUTES);
    expect(typesOf(await eventsOf(driver, drive))).toEqual(WITH_ROUTES);
  });

  it('begin with the first ping after they were switched on, wherever the vehicle was before', async () => {
    const driver = driverOf();
    setRoutes(true, NOON + 60_001);
    const onTheRoad = [1, 2, 3, 4].map((minute) => pingAt(minute * 60_000, { latitude: 52.1 + minute * 0.005 }));
    const made = await eventsOf(driver, onTheRoad);
    // First sight with minute 2, the first of two moving pings.
    expect(typesOf(made)).toEqual(['position', '', 'route_started', 'position']);
    expect(made[2]).toMatchObject([{ startTime: NOON + 120_000 }]);
  });

  it('end without an event when switched off, and start over when switched on again', async () => {
    const driver = driverOf();
    setRoutes(true, NOON);
    expect(typesOf(await eventsOf(driver, drive.slice(0, 3)))).toEqual(WITH_ROUTES.slice(0, 3));
    setRoutes(false, NOON + 130_000);
    expect(typesOf(await eventsOf(driver, drive.slice(3)))).toEqual(WITHOUT_ROUTES.slice(3));
    expect(tripsOf(driver).slice(-2)).toEqual([null, null]);
    setRoutes(true, NOON + 210_000);
    expect(typesOf(await eventsOf(driver, [pingAt(220_000, { speedInKmh: 0, ignition: null })]))).toEqual(['']);
    expect(tripsOf(driver).at(-1)).toMatchObject({ since: null, route: null });
  });

  it('are decided by the settings of the time of the ping, however late it is processed', async () => {
    const driver = driverOf();
    setRoutes(false, NOON - 1);
    setRoutes(true, NOON + 120_001);
    setRoutes(false, NOON + 500_000);
    // The first three pings see version 1, the others version 2: too late for this route.
    expect(typesOf(await eventsOf(driver, drive))).toEqual(WITHOUT_ROUTES);
    expect(tripsOf(driver)).toMatchObject([null, null, null, { route: null }, { route: null }]);
  });

  it('see what was appended in the millisecond of the ping', async () => {
    const driver = driverOf();
    setRoutes(true, NOON + 60_000);
    await eventsOf(driver, drive.slice(0, 2));
    expect(tripsOf(driver)).toMatchObject([null, { route: null }]);
  });

  it('do not change the geofences', async () => {
    const yard: Geofence = {
      geofenceId: 'yard',
      fleetId: 'fleet-1',
      name: 'Yard',
      version: 1,
      createdAt: 0,
      updatedAt: 0,
      circle: { latitude: 52.11, longitude: 4.9, radiusInMeters: 300 },
      polygon: null,
    };
    histories.geofences.record(geofenceKey(yard), yard, NOON - 1);
    expect(typesOf(await eventsOf(driverOf(), drive))).toEqual([
      ...['position', '', 'geofence_in'],
      ...['ignition_off position_sleep', ''],
    ]);
  });
});

function pingAt(sinceNoonMs: number, more: Partial<TelemetryPing>): TelemetryPing {
  return pingOf({ eventTime: NOON + sinceNoonMs, speedInKmh: 36, ignition: true, ...more });
}
