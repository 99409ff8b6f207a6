import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAvroCodecs, createPingReader, type TelemetryPing } from '@waypost/contracts';
import { createGeofenceHistory, type Geofence, type GeofenceHistory } from '@waypost/domain';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { pingOf } from '../../../../test/support/samples.js';
import { createFleetFinder } from './fleet-finder.js';

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

const addFence = (history: GeofenceHistory, fleetId: string): void => {
  const circle = { latitude: 1, longitude: 2, radiusInMeters: 3 };
  const fence: Geofence = {
    ...{ geofenceId: 'g', fleetId, name: 'G', circle, polygon: null },
    ...{ version: 1, createdAt: 0, updatedAt: 0 },
  };
  history.record(`${fleetId}\u001fg`, fence, 1);
};

describe('the fleet of a ping', () => {
  it('is found again and again, for far more fleets than are remembered', () => {
    const history = createGeofenceHistory();
    const fleetIds = Array.from({ length: 3_000 }, (_, n) => `fleet-${String(n)}`);
    for (const fleetId of fleetIds.slice(0, 1_500)) addFence(history, fleetId);
    const find = createFleetFinder(history);
    for (const fleetId of [...fleetIds, ...fleetIds, ...fleetIds.slice(0, 50).reverse()]) {
      const fleet = history.fleet(fleetId);
      expect(find(readBack(pingOf({ fleetId })))).toBe(fleet);
      expect(find(pingOf({ fleetId }))).toBe(fleet);
    }
  });

  it('is found as soon as it has its first geofence', () => {
    const history = createGeofenceHistory();
    const find = createFleetFinder(history);
    const ping = readBack(pingOf({ fleetId: 'new' }));
    expect(find(ping)).toBeUndefined();
    addFence(history, 'other');
    expect(find(ping)).toBeUndefined();
    addFence(history, 'new');
    expect(find(ping)).toBe(history.fleet('new'));
    expect(find(ping)).toBeDefined();
  });
});
