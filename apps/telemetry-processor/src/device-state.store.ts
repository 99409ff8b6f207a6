import { resolveBatch, topics, type AvroCodecs } from '@waypost/contracts';
import { joinIds, type DeviceState } from '@waypost/domain';
import { StreamsError, type StoreDefinition } from '@waypost/streams';

/** State is kept per fleet and device: the same device id may occur in two fleets. */
export const deviceKey = (fleetId: string, deviceId: string): string => joinIds(fleetId, deviceId);

export const deviceStateStore = (codecs: AvroCodecs): StoreDefinition<DeviceState> => ({
  changelogTopic: topics.deviceState.name,
  prepare: (records) => resolveBatch(codecs.deviceState, records),
  serde: {
    serialize: (state) => codecs.deviceState.encode(state),
    deserialize: (bytes) => {
      const decoded = codecs.deviceState.decode(bytes);
      if (decoded.type === 'decoded') return decoded.value;
      throw new StreamsError('CORRUPT_STATE', `The device state in the changelog cannot be read: ${decoded.type}.`);
    },
  },
});
