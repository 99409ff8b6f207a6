import { describe, expect, it } from '@jest/globals';
import { KeyBuilder } from '@waypost/compact-store';
import { createAvroCodecs } from '@waypost/contracts';
import type { DeviceState } from '@waypost/domain';
import { StreamRecord } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { deviceStateStore } from './device-state.store.js';
import { plainState } from './testing/plain-state.js';

const KEY = 'fleet-1\u001fdevice-1';
const STATE: DeviceState = {
  ...{ newestEventTime: 5_000, ignition: true, lastSentTime: 4_000, armed: true, geofences: null, trip: null },
  ...{ fixTime: 3_000, latitude: 52.1, longitude: 4.9 },
};

describe('the store of device states', () => {
  it('is restored by a process that has read nothing yet: it looks up the schemas of the changelog', async () => {
    const registry = createMemoryRegistry();
    const before = createAvroCodecs({ registry });
    await before.deviceState.prepare();
    const value = before.deviceState.encode(STATE);
    const record = StreamRecord.of({ offset: 0, timestamp: 0, key: Buffer.from(KEY), value });

    const { prepare, createStore } = deviceStateStore(createAvroCodecs({ registry }));
    const store = createStore();
    await prepare?.([record]);
    store.restore(record);

    const restored = store.get(new KeyBuilder().reset().appendText(KEY));
    expect(restored && plainState(restored)).toEqual(STATE);
  });
});
