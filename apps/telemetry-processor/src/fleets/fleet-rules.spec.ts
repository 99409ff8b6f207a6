import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAvroCodecs, createPingReader } from '@waypost/contracts';
import { createFleetSettingsHistory, createGeofenceHistory, type Geofence, type TelemetryPing } from '@waypost/domain';
import { StreamRecord } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { pingOf } from '../../../../test/support/samples.js';
import { type FleetHistories, knownFleets } from './fleet-directory.js';
import { createFleetRules, FleetFinder } from './fleet-rules.js';

/** As the processor gets it. */
let readBack: (ping: TelemetryPing) => TelemetryPing;

beforeAll(async () => {
  const codecs = createAvroCodecs({ registry: createMemoryRegistry(), now: () => 0 });
  await codecs.telemetryPings.prepare();
  await codecs.telemetryPings.resolve([codecs.telemetryPings.encode(pingOf()).readInt32BE(1)]);
  const read = createPingReader(codecs.telemetryPings);
  readBack = (ping) => {
    const bytes = codecs.telemetryPings.encode(ping);
    const decoded = read(bytes, 0, bytes.length);
    if (decoded.type !== 'decoded') throw new Error(decoded.type);
    return decoded.value;
  };
});

function newHistories(): FleetHistories {
  return { geofences: createGeofenceHistory(), settings: createFleetSettingsHistory() };
}

function addFence({ geofences }: FleetHistories, fleetId: string): void {
  const circle = { latitude: 1, longitude: 2, radiusInMeters: 3 };
  const fence: Geofence = {
    geofenceId: 'g',
    fleetId,
    name: 'G',
    circle,
    polygon: null,
    version: 1,
    createdAt: 0,
    updatedAt: 0,
  };
  geofences.record(`${fleetId}\u001fg`, fence, 1);
}

function addSettings({ settings }: FleetHistories, fleetId: string): void {
  const fleet = { fleetId, name: null, payloadFormat: 'v1', routes: true };
  settings.record(fleetId, { ...fleet, version: 1, createdAt: 0, updatedAt: 0 }, 1);
}

function newFinder(histories: FleetHistories): FleetFinder {
  const finder = new FleetFinder(knownFleets(histories));
  finder.refresh();
  return finder;
}

describe('the fleet of a ping', () => {
  it('is found for far more fleets than are cached', () => {
    const histories = newHistories();
    const { geofences, settings } = histories;
    const fleetIds = Array.from({ length: 3_000 }, (_, n) => `fleet-${String(n)}`);
    for (const fleetId of fleetIds.slice(0, 1_500)) addFence(histories, fleetId);
    for (const fleetId of fleetIds.slice(1_000, 2_500)) addSettings(histories, fleetId);
    const finder = newFinder(histories);
    for (const fleetId of [...fleetIds, ...fleetIds, ...fleetIds.slice(0, 50).reverse()]) {
      for (const ping of [pingOf({ fleetId }), readBack(pingOf({ fleetId }))]) {
        const found = finder.find(ping);
        expect(found?.geofences).toBe(geofences.fleet(fleetId));
        expect(found?.settings).toBe(settings.fleet(fleetId));
      }
    }
  });

  it.each([63, 64, 65, 256])('is found only by its own id of %i characters', (length) => {
    const histories = newHistories();
    const [fleetId, other] = ['a', 'b'].map((last) => last.padStart(length, 'f')) as [string, string];
    // All places are taken, and none of their ids is damaged.
    const others = Array.from({ length: 2_000 }, (_, n) => `fleet-${String(n)}`);
    for (const id of [...others, fleetId]) addFence(histories, id);
    const finder = newFinder(histories);
    for (let look = 0; look < 2; look++) {
      expect(finder.find(readBack(pingOf({ fleetId })))?.geofences).toBe(histories.geofences.fleet(fleetId));
      expect(finder.find(readBack(pingOf({ fleetId: other })))).toBeUndefined();
      for (const id of others)
        expect(finder.find(readBack(pingOf({ fleetId: id })))?.geofences).toBe(histories.geofences.fleet(id));
    }
  });

  it('is found from the batch on before which it has its first geofence, or its first settings', () => {
    const histories = newHistories();
    const finder = newFinder(histories);
    const ping = readBack(pingOf({ fleetId: 'new' }));
    expect(finder.find(ping)).toBeUndefined();
    addFence(histories, 'other');
    finder.refresh();
    expect(finder.find(ping)).toBeUndefined();
    addSettings(histories, 'new');
    finder.refresh();
    expect(finder.find(ping)).toEqual({ geofences: undefined, settings: histories.settings.fleet('new') });
    addFence(histories, 'new');
    finder.refresh();
    expect(finder.find(ping)?.geofences).toBe(histories.geofences.fleet('new'));
    expect(finder.find(ping)?.geofences).toBeDefined();
  });
});

describe('the rules of a ping', () => {
  it('are those of its fleet when it was appended, whatever its own time (decision 0030)', () => {
    const histories = newHistories();
    const fleet = { fleetId: 'fleet-1', name: null, payloadFormat: 'v1', createdAt: 0, updatedAt: 0 };
    histories.settings.record('fleet-1', { ...fleet, routes: true, version: 1 }, 2_000);
    histories.settings.record('fleet-1', { ...fleet, routes: false, version: 2 }, 4_000);
    const rules = createFleetRules(knownFleets(histories), 'all');
    rules.refresh();
    const hasRoutes = (timestamp: number, eventTime: number): boolean => {
      const record = StreamRecord.of({ offset: 0, timestamp, key: null, value: null });
      return rules.of(record, readBack(pingOf({ fleetId: 'fleet-1', eventTime }))).settings.routes !== null;
    };
    expect([1_999, 2_000, 3_999, 4_000].map((at) => hasRoutes(at, 3_000))).toEqual([false, true, true, false]);
    expect([1_000, 3_000, 5_000].map((eventTime) => hasRoutes(3_000, eventTime))).toEqual([true, true, true]);
  });
});
