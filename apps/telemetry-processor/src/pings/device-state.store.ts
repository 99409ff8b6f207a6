import { type CompactStore, compactStore } from '@waypost/compact-store';
import { type AvroCodecs, createDeviceStateReader, type DecodeResult, resolveBatch, topics } from '@waypost/contracts';
import type { DeviceState } from '@waypost/domain';
import { type Serde, type StoreDefinition, StreamsError } from '@waypost/streams';
import { deviceStateLayout, type StoredDeviceState } from './device-state.layout.js';

export type DeviceStore = CompactStore<DeviceState, StoredDeviceState>;

export function deviceStateStore(codecs: AvroCodecs): StoreDefinition<DeviceStore> {
  return compactStore({
    changelogTopic: topics.deviceState.name,
    layout: deviceStateLayout,
    serde: deviceStateSerde(codecs),
    prepare: (records) => resolveBatch(codecs.deviceState, records),
  });
}

function deviceStateSerde({ deviceState }: AvroCodecs): Serde<DeviceState> {
  const read = createDeviceStateReader(deviceState);
  return {
    serialize: (state) => deviceState.encodeRange(state),
    deserialize: (bytes) => requireDecoded(deviceState.decode(bytes)),
    deserializeRange: (bytes, start, end) => requireDecoded(read(bytes, start, end)),
  };
}

function requireDecoded(result: DecodeResult<DeviceState>): DeviceState {
  if (result.type === 'decoded') return result.value;
  throw new StreamsError('CORRUPT_STATE', `The device state in the changelog cannot be read: ${result.type}.`);
}
