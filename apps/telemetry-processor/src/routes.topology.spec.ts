import { beforeEach, describe, expect, it } from '@jest/globals';
import { createAvroCodecs, type AvroCodecs, type FleetEvent, type TelemetryPing } from '@waypost/contracts';
import { createTopologyTestDriver, type TopologyTestDriver } from '@waypost/streams';
import { createMemoryRegistry } from '../../../test/support/registry/memory-registry.js';
import { NOON, pingOf } from '../../../test/support/samples.js';
import type { RuleSet } from './rule-set.js';
import { telemetryProcessorTopology } from './telemetry-processor.topology.js';

const noGeofences = { fleet: () => undefined, fleetCount: 0, caughtUp: () => Promise.resolve() };
const noMetrics = { pingDecided: () => undefined, eventEmitted: () => undefined };

let codecs: AvroCodecs;

beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry(), now: () => 0 });
  await Promise.all(Object.values(codecs).map((codec) => codec.prepare()));
  const ids = Array.from({ length: 20 }, (_, index) => index + 1);
  await Promise.all([codecs.fleetEvents.resolve(ids), codecs.deviceState.resolve(ids)]);
});

const driverOf = (rules?: RuleSet): TopologyTestDriver => {
  const parts = { codecs, geofences: noGeofences, metrics: noMetrics };
  const topology = telemetryProcessorTopology(rules === undefined ? parts : { ...parts, rules });
  return createTopologyTestDriver({ topology, partition: 0 });
};

/** Two minutes on the road, then the ignition goes off, and half a minute later it still is. */
const drive: readonly TelemetryPing[] = [
  pingOf({ eventTime: NOON, speedInKmh: 0, ignition: true }),
  pingOf({ eventTime: NOON + 60_000, speedInKmh: 36, latitude: 52.105 }),
  pingOf({ eventTime: NOON + 120_000, speedInKmh: 36, latitude: 52.11 }),
  pingOf({ eventTime: NOON + 170_000, speedInKmh: 0, latitude: 52.112, ignition: false }),
  pingOf({ eventTime: NOON + 200_000, speedInKmh: 0, latitude: 52.112 }),
];

const eventsOf = async (driver: TopologyTestDriver, pings: readonly TelemetryPing[]): Promise<FleetEvent[][]> => {
  const made: FleetEvent[][] = [];
  for (const ping of pings) {
    const records = await driver.pipe({ key: Buffer.from('device-1'), value: codecs.telemetryPings.encode(ping) });
    made.push(
      records.map(({ value }) => {
        const decoded = codecs.fleetEvents.decode(value ?? Buffer.alloc(0));
        if (decoded.type !== 'decoded') throw new Error(decoded.type);
        return decoded.value;
      }),
    );
  }
  return made;
};

const typesOf = (made: readonly (readonly FleetEvent[])[]): string[] =>
  made.map((events) => events.map(({ eventType }) => eventType).join(' '));

describe('routes and stops in the telemetry processor', () => {
  it('are events of their device, in the order of R-10', async () => {
    expect(typesOf(await eventsOf(driverOf(), drive))).toEqual([
      'position',
      '',
      'route_started',
      'ignition_off position_sleep',
      'route_finished stop_started',
    ]);
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
    const trips = driver
      .written()
      .filter(({ topic }) => topic === 'telemetry-processor.device-state')
      .map(({ value }) => {
        const decoded = codecs.deviceState.decode(value ?? Buffer.alloc(0));
        return decoded.type === 'decoded' ? decoded.value.trip : decoded.type;
      });
    expect(trips).toMatchObject([
      { since: null, moving: false, route: null },
      { since: null, moving: true, maxSpeedInKmh: 36, route: null },
      { since: NOON + 60_000, route: { standing: false, ignitionOffSince: null } },
      { since: NOON + 60_000, route: { standing: true, ignitionOffSince: NOON + 170_000 } },
      { since: NOON + 170_000, latitude: 52.112, route: null },
    ]);
  });

  it('do not exist with the rules of positions alone', async () => {
    expect(typesOf(await eventsOf(driverOf('positions'), drive))).toEqual([
      'position',
      '',
      '',
      'ignition_off position_sleep',
      '',
    ]);
  });
});
