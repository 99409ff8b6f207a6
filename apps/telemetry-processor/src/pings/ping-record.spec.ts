import { beforeAll, describe, expect, it } from '@jest/globals';
import { KeyBuilder } from '@waypost/compact-store';
import { createAvroCodecs, createPingReader, LazyTelemetryPing } from '@waypost/contracts';
import { MAX_ID_LENGTH, type TelemetryPing } from '@waypost/domain';
import { StreamRecord } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { pingOf } from '../../../../test/support/samples.js';
import { isKeyOfDevice, writeDeviceKey } from './ping-record.js';

/** As a producer with our own version of the schema sends it; any other version is read as a plain object. */
let readBack: (ping: TelemetryPing) => TelemetryPing;

beforeAll(async () => {
  const { telemetryPings } = createAvroCodecs({ registry: createMemoryRegistry(), now: () => 0 });
  await telemetryPings.prepare();
  await telemetryPings.resolve([telemetryPings.encode(pingOf()).readInt32BE(1)]);
  const read = createPingReader(telemetryPings);
  readBack = (ping) => {
    const bytes = telemetryPings.encode(ping);
    const decoded = read(bytes, 0, bytes.length);
    if (decoded.type !== 'decoded') throw new Error(decoded.type);
    expect(decoded.value).toBeInstanceOf(LazyTelemetryPing);
    return decoded.value;
  };
});

/** null: none. */
function keyOf(ping: TelemetryPing): string | null {
  const key = new KeyBuilder().append(Buffer.from('of the ping before'), 0, 18);
  return writeDeviceKey(key, ping) ? Buffer.from(key.bytes.subarray(0, key.length)).toString() : null;
}

describe('the key of the state of a device', () => {
  const longest = '車'.repeat(MAX_ID_LENGTH);

  it.each([
    ['ordinary ids', 'fleet-1', 'device-1'],
    ['ids of any script', 'frota-ção', '車両-🚚'],
    ['the longest ids', longest, longest],
  ])('is that of %s, whichever version of the schema the producer has', (_what, fleetId, deviceId) => {
    const ping = pingOf({ fleetId, deviceId });
    expect([keyOf(ping), keyOf(readBack(ping))]).toEqual(Array(2).fill(`${fleetId}\u001f${deviceId}`));
  });

  it.each([
    ['fleetId', { fleetId: `${longest}車` }],
    ['deviceId', { deviceId: `${longest}車` }],
  ])('is none where the %s is longer than any valid one', (_what, ids) => {
    expect([keyOf(pingOf(ids)), keyOf(readBack(pingOf(ids)))]).toEqual([null, null]);
  });
});

describe('the key of a record', () => {
  function recordUnder(key: string | null): StreamRecord {
    const bytes = Buffer.from(`fetched: ${key ?? ''} and more`);
    const start = key === null ? -1 : 9;
    return new StreamRecord(0, 0, bytes, start, 9 + (key?.length ?? 0), -1, -1);
  }

  it.each([
    ['device-1', true],
    ['device-2', false],
    ['Device-1', false],
    ['device-', false],
    ['device-1 ', false],
    ['', false],
    [null, false],
  ])('%j is that of the device: %s', (key, expected) => {
    expect(isKeyOfDevice(recordUnder(key), readBack(pingOf({ deviceId: 'device-1' })))).toBe(expected);
  });
});
