import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { type AvroCodecs, createAvroCodecs, topics } from '@waypost/contracts';
import { type FleetSettings, type Geofence, geofenceKey } from '@waypost/domain';
import type { UnusableRecord } from '@waypost/platform';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { flushed, until } from '../../../../test/support/until.js';
import type { TelemetryProcessorConfig } from '../config.js';
import { FleetDirectory } from './fleet-directory.js';

const settings: FleetSettings = {
  fleetId: 'acme',
  name: null,
  payloadFormat: 'v1',
  routes: true,
  version: 1,
  createdAt: 0,
  updatedAt: 0,
};
const depot: Geofence = {
  geofenceId: 'depot',
  fleetId: 'acme',
  name: 'Depot',
  version: 1,
  createdAt: 0,
  updatedAt: 0,
  circle: { latitude: 52, longitude: 4, radiusInMeters: 300 },
  polygon: null,
};

let codecs: AvroCodecs;
let now: number;
let backend: ReturnType<typeof createMemoryBackend>;
let warned: string[];
let failures: Error[];
let rejected: UnusableRecord[];
let registry: Registry;
let directory: FleetDirectory;

beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry(), now: () => 0 });
  await Promise.all([codecs.fleetSettings.prepare(), codecs.fleetGeofences.prepare()]);
  now = 1_000;
  const partitions = { [topics.fleetSettings.name]: 1, [topics.fleetGeofences.name]: 1 };
  backend = createMemoryBackend({ topics: partitions, now: () => now });
  [warned, failures, rejected] = [[], [], []];
  registry = new Registry();
  directory = createDirectory('all');
});

afterEach(() => directory.onApplicationShutdown());

function createDirectory(rules: TelemetryProcessorConfig['rules']): FleetDirectory {
  const nothing = (): void => undefined;
  return new FleetDirectory(
    backend,
    codecs,
    { debug: nothing, info: nothing, error: nothing, warn: (event) => void warned.push(event) },
    (error) => void failures.push(error),
    { put: (_source, unusable) => Promise.resolve(void rejected.push(...unusable)) },
    { rules },
    registry,
  );
}
function append(topic: string, key: string, value: Buffer | null): void {
  backend.append({ topic, partition: 0 }, { key: Buffer.from(key), value });
}
function appendSettings(more: Partial<FleetSettings> = {}): void {
  append(topics.fleetSettings.name, 'acme', codecs.fleetSettings.encode({ ...settings, ...more }));
}
function appendFence(geofence: Geofence): void {
  append(topics.fleetGeofences.name, geofenceKey(geofence), codecs.fleetGeofences.encode(geofence));
}
function routesAt(at: number): boolean | undefined {
  return directory.fleet('acme')?.settings?.at(at)?.routes;
}

describe('what the processor knows of fleets', () => {
  it('is what both topics hold when it starts, by the times of the broker', async () => {
    appendSettings();
    appendFence(depot);
    await directory.onApplicationBootstrap();
    expect(routesAt(999)).toBeUndefined();
    expect(routesAt(1_000)).toBe(true);
    expect(directory.fleet('acme')?.geofences?.get('depot', 1_000)?.name).toBe(depot.name);
    expect(directory.fleet('other')).toBeUndefined();
    expect(directory.knownCount()).toBe(2);
  });

  it('has everything of both that was appended before it is asked to catch up', async () => {
    await directory.onApplicationBootstrap();
    expect(directory.knownCount()).toBe(0);
    appendSettings();
    await directory.caughtUp();
    expect(routesAt(1_000)).toBe(true);
    now = 2_000;
    appendSettings({ version: 2, routes: false });
    appendFence(depot);
    await directory.caughtUp();
    expect([routesAt(1_999), routesAt(2_000)]).toEqual([true, false]);
    expect(directory.fleet('acme')?.geofences?.get('depot', 2_000)).toBeDefined();
  });

  it('is nothing while only positions are decided, for which no rule needs a fleet', async () => {
    appendSettings();
    registry = new Registry();
    directory = createDirectory('positions');
    await directory.onApplicationBootstrap();
    await directory.caughtUp();
    expect(directory.knownCount()).toBe(0);
  });

  it('drops what a tombstone deletes', async () => {
    appendSettings();
    appendFence(depot);
    await directory.onApplicationBootstrap();
    now = 2_000;
    append(topics.fleetSettings.name, 'acme', null);
    append(topics.fleetGeofences.name, geofenceKey(depot), null);
    await directory.caughtUp();
    expect([routesAt(1_999), routesAt(2_000)]).toEqual([true, undefined]);
    expect(directory.fleet('acme')?.geofences?.get('depot', 2_000)).toBeUndefined();
  });

  it.each([topics.fleetSettings.name, topics.fleetGeofences.name])(
    'is fatal to the process once %s can be followed no longer: its pings would be decided by old versions',
    async (topic) => {
      append(topic, topic === topics.fleetSettings.name ? 'acme' : geofenceKey(depot), null);
      await directory.onApplicationBootstrap();
      backend.loseFrom({ topic, partition: 0 }, 0);
      await until(() => failures.length === 1);
      await expect(directory.caughtUp()).rejects.toBe(failures[0]);
    },
  );

  it('does not grow after the shutdown, and then never counts as complete', async () => {
    await directory.onApplicationBootstrap();
    await directory.onApplicationShutdown();
    appendSettings();
    appendFence(depot);
    await flushed();
    expect(directory.knownCount()).toBe(0);
    await expect(directory.caughtUp()).rejects.toThrow('is stopped');
  });

  it('is counted for metrics, fleets and versions apart', async () => {
    appendFence(depot);
    appendFence({ ...depot, version: 2 });
    appendFence({ ...depot, geofenceId: 'yard' });
    await directory.onApplicationBootstrap();
    const lines = (await registry.metrics()).split('\n');
    expect(lines).toEqual(expect.arrayContaining(['waypost_geofence_fleets 1', 'waypost_geofence_versions 3']));
  });

  it('logs a geofence without a valid shape, and continues', async () => {
    appendFence({ ...depot, circle: null });
    await directory.onApplicationBootstrap();
    expect(warned).toEqual(['geofence_unusable']);
  });

  it.each([topics.fleetSettings.name, topics.fleetGeofences.name])(
    'quarantines a record of %s that cannot be read, and keeps the version before it',
    async (topic) => {
      appendSettings();
      appendFence(depot);
      await directory.onApplicationBootstrap();
      append(topic, topic === topics.fleetSettings.name ? 'acme' : geofenceKey(depot), Buffer.from('no Avro'));
      await directory.caughtUp();
      expect(rejected).toMatchObject([{ reason: 'malformed', record: { value: Buffer.from('no Avro') } }]);
      expect(failures).toEqual([]);
      expect(routesAt(2_000)).toBe(true);
      expect(directory.fleet('acme')?.geofences?.get('depot', 2_000)).toBeDefined();
    },
  );
});
