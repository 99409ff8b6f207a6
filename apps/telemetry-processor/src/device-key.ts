import { LazyTelemetryPing } from '@waypost/contracts';
import { MAX_ID_LENGTH, type TelemetryPing } from '@waypost/domain';
import { FetchedRecord, type KeyBuilder, type StreamRecord } from '@waypost/streams';

const UNIT_SEPARATOR = 0x1f;
const MAX_BYTES_PER_CHARACTER = 3;
const MAX_ID_BYTES = MAX_ID_LENGTH * MAX_BYTES_PER_CHARACTER;

/**
 * State is kept per fleet and device: the same device id may occur in two fleets. The key is both ids as UTF-8 with
 * U+001F between them, which no valid id holds.
 *
 * @returns false: an id is too long to be valid, and has no key
 */
export const writeDeviceKey = (key: KeyBuilder, ping: TelemetryPing): boolean => {
  key.reset();
  if (ping instanceof LazyTelemetryPing) {
    const { bytes, fleetIdStart, fleetIdEnd, deviceIdStart, deviceIdEnd } = ping;
    if (fleetIdEnd - fleetIdStart > MAX_ID_BYTES || deviceIdEnd - deviceIdStart > MAX_ID_BYTES) return false;
    key.append(bytes, fleetIdStart, fleetIdEnd).appendByte(UNIT_SEPARATOR).append(bytes, deviceIdStart, deviceIdEnd);
    return true;
  }
  const { fleetId, deviceId } = ping;
  if (fleetId.length > MAX_ID_LENGTH || deviceId.length > MAX_ID_LENGTH) return false;
  key.appendText(fleetId).appendByte(UNIT_SEPARATOR).appendText(deviceId);
  return true;
};

/** Whether the record's key is the ping's deviceId, as far as that can be told without making a text of either. */
export const hasKeyOfDevice = (record: StreamRecord, ping: TelemetryPing): boolean => {
  if (!(record instanceof FetchedRecord) || !(ping instanceof LazyTelemetryPing)) return false;
  const length = ping.deviceIdEnd - ping.deviceIdStart;
  if (record.keyStart < 0 || record.keyEnd - record.keyStart !== length) return false;
  for (let i = 0; i < length; i++) {
    if (record.bytes[record.keyStart + i] !== ping.bytes[ping.deviceIdStart + i]) return false;
  }
  return true;
};
