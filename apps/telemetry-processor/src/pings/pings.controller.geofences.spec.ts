import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AvroCodecs, createAvroCodecs, topics } from '@waypost/contracts';
import {
  createFleetSettingsHistory,
  createGeofenceHistory,
  type FleetEvent,
  type Geofence,
  type GeofenceHistory,
  geofenceKey,
} from '@waypost/domain';
import { type OutgoingRecord } from '@waypost/streams';
import { createTopologyTestDriver, type TopologyTestDriver } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { pingOf } from '../../../../test/support/samples.js';
import { flushed } from '../../../../test/support/until.js';
import { knownFleets } from '../fleets/fleet-directory.js';
import { pingTopology } from './testing/ping-topology.js';

const START = Date.UTC(2026, 0, 5, 8);
const SECOND = 1_000;
const DEPOT = { latitude: 52.1, longitude: 4.9, radiusInMeters: 500 };
/** About 1 km to the north. */
const OUTSIDE = 52.109;
const INSIDE = 52.1;

const depot: Geofence = {
  geofenceId: 'depot-1',
  fleetId: 'fleet-1',
  name: 'Depot',
  circle: DEPOT,
  polygon: null,
  version: 1,
  createdAt: START,
  updatedAt: START,
};

let codecs: AvroCodecs;
let history: GeofenceHistory;
/** Records of the fence topic that are appended and not read yet. */
let unread: (() => void)[];
let driver: TopologyTestDriver;
let clock: number;

function newDriver(autoCommit = true): TopologyTestDriver {
  return createTopologyTestDriver({
    topology: pingTopology({
      codecs,
      fleets: {
        ...knownFleets({ geofences: history, settings: createFleetSettingsHistory() }),
        // Reading takes a while: pings that did not wait for it would not see what is unread.
        caughtUp: async () => {
          await flushed();
          for (const read of unread.splice(0)) read();
        },
      },
      metrics: { pingDecided: () => undefined, eventEmitted: () => undefined },
    }),
    autoCommit,
  });
}

beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry(), now: () => 0 });
  await Promise.all(Object.values(codecs).map((codec) => codec.prepare()));
  await codecs.fleetEvents.resolve(Array.from({ length: 20 }, (_, index) => index + 1));
  history = createGeofenceHistory();
  unread = [];
  // After every ping: none is from the future.
  clock = START + 3_600 * SECOND;
  driver = newDriver();
});

function publish(geofence: Geofence | null, key = geofenceKey(depot)): void {
  const appendedAt = ++clock;
  unread.push(() => history.record(key, geofence, appendedAt));
}

interface Ping {
  readonly seconds: number;
  readonly latitude: number | null;
  readonly appendedAt: number;
}

async function send({ seconds, latitude, appendedAt }: Ping): Promise<FleetEvent[]> {
  const eventTime = START + seconds * SECOND;
  const value = codecs.telemetryPings.encode(
    pingOf({ eventTime, receivedTime: eventTime, latitude, ignition: true, positionValid: latitude !== null }),
  );
  const written = await driver.pipe({ key: Buffer.from('device-1'), value, timestamp: appendedAt });
  return geofenceEvents(written);
}

function geofenceEvents(written: readonly OutgoingRecord[]): FleetEvent[] {
  return written
    .filter(({ topic }) => topic === topics.fleetEvents.name)
    .flatMap(({ value }) => {
      const decoded = codecs.fleetEvents.decode(value ?? Buffer.alloc(0));
      if (decoded.type !== 'decoded') throw new Error(decoded.type);
      return decoded.value.eventType.startsWith('geofence_') ? [decoded.value] : [];
    });
}

function at(seconds: number, latitude: number | null): Promise<FleetEvent[]> {
  return send({ seconds, latitude, appendedAt: ++clock });
}

describe('geofences in the telemetry processor (R-8)', () => {
  it('writes in and out with id, name, time of entry and duration, under the geofence as resource', async () => {
    publish(depot);
    expect(await at(0, OUTSIDE)).toEqual([]);
    expect(await at(10, INSIDE)).toMatchObject([
      {
        eventType: 'geofence_in',
        eventTime: START + 10 * SECOND,
        resourceId: 'depot-1',
        geofenceId: 'depot-1',
        geofenceName: 'Depot',
        enteredAt: null,
        durationInSeconds: null,
        latitude: INSIDE,
        ignition: true,
      },
    ]);
    expect(await at(40, OUTSIDE)).toEqual([]);
    expect(await at(41.5, OUTSIDE)).toMatchObject([
      {
        eventType: 'geofence_out',
        eventTime: START + 41.5 * SECOND,
        resourceId: 'depot-1',
        geofenceName: 'Depot',
        enteredAt: START + 10 * SECOND,
        durationInSeconds: 31.5,
      },
    ]);
  });

  it('looks at valid fixes only, and not at late or repeated pings', async () => {
    publish(depot);
    await at(0, OUTSIDE);
    expect(await at(10, null)).toEqual([]);
    expect(await at(10, INSIDE)).toEqual([]);
    expect(await at(5, INSIDE)).toEqual([]);
    expect(await at(20, INSIDE)).toHaveLength(1);
    await at(30, OUTSIDE);
    expect(await at(40, null)).toEqual([]);
    expect(await at(35, OUTSIDE)).toEqual([]);
    expect(await at(50, OUTSIDE)).toHaveLength(1);
  });

  it('comes after the ignition and before the position, out before in (R-10)', async () => {
    publish(depot);
    const yard = { ...depot, geofenceId: 'a-yard', circle: { ...DEPOT, latitude: OUTSIDE + 0.02 } };
    publish(yard, geofenceKey(yard));
    await at(0, 53);
    await at(10, INSIDE);
    const eventTime = START + 30 * SECOND;
    await at(20, OUTSIDE);
    const ping = pingOf({ eventTime, receivedTime: eventTime, latitude: OUTSIDE + 0.02, ignition: false });
    const written = await driver.pipe({
      key: Buffer.from('device-1'),
      value: codecs.telemetryPings.encode(ping),
      timestamp: ++clock,
    });
    const types = written.map(({ value }) => {
      const decoded = codecs.fleetEvents.decode(value ?? Buffer.alloc(0));
      return decoded.type === 'decoded' ? decoded.value.eventType : decoded.type;
    });
    expect(types.filter((type) => /^(ignition|geofence|position)/.test(type))).toEqual([
      'ignition_off',
      'geofence_out',
      'geofence_in',
      'position_sleep',
    ]);
  });

  it('remembers over a restart where the device is, and since when', async () => {
    publish(depot);
    await at(0, OUTSIDE);
    await at(10, INSIDE);
    await at(20, OUTSIDE);
    await driver.restart();
    expect(await at(30, OUTSIDE)).toMatchObject([{ eventType: 'geofence_out', enteredAt: START + 10 * SECOND }]);
    await driver.restart();
    expect(await at(40, INSIDE)).toMatchObject([{ eventType: 'geofence_in' }]);
  });

  it('takes back what a failed transaction has changed', async () => {
    driver = newDriver(false);
    publish(depot);
    await at(0, OUTSIDE);
    await at(10, INSIDE);
    driver.commit();
    await at(20, OUTSIDE);
    expect(await at(30, OUTSIDE)).toHaveLength(1);
    driver.rollback();
    await at(20, OUTSIDE);
    expect(await at(30, OUTSIDE)).toMatchObject([{ eventType: 'geofence_out', enteredAt: START + 10 * SECOND }]);
  });

  it('makes the same events when the recorded pings are processed again, after every change of the geofences', async () => {
    const pings: Ping[] = [];
    const live: FleetEvent[][] = [];
    const drive = async (seconds: number, latitude: number): Promise<void> => {
      const ping = { seconds, latitude, appendedAt: ++clock };
      pings.push(ping);
      live.push(await send(ping));
    };
    await drive(0, INSIDE);
    publish(depot);
    await drive(10, OUTSIDE);
    await drive(20, INSIDE);
    publish({ ...depot, version: 2, name: 'Yard', circle: { ...DEPOT, radiusInMeters: 2_000 } });
    await drive(30, OUTSIDE);
    publish({ ...depot, version: 3, circle: { ...DEPOT, latitude: 53 } });
    await drive(40, INSIDE);
    await drive(50, OUTSIDE);
    publish(null);
    publish(depot);
    await drive(60, INSIDE);
    publish(null);
    await drive(70, OUTSIDE);
    await drive(80, OUTSIDE);

    expect(live.flat().map(({ eventType, geofenceName }) => [eventType, geofenceName])).toEqual([
      ['geofence_in', 'Depot'],
      ['geofence_out', 'Depot'],
    ]);
    driver = newDriver();
    const again: FleetEvent[][] = [];
    for (const ping of pings) again.push(await send(ping));
    expect(again).toEqual(live);
  });
});
