import type { KeyBuilder } from '@waypost/compact-store';
import {
  type AvroCodecs,
  createPingReader,
  LazyTelemetryPing,
  NO_VALUE,
  type ReadValue,
  valueOf,
} from '@waypost/contracts';
import { MAX_ID_LENGTH, type TelemetryPing } from '@waypost/domain';
import type { StreamRecord } from '@waypost/streams';

/** Returns the ping of a record, or why it has none (R-2). The writers' schemas must have been looked up. */
export type PingRecordReader = (record: StreamRecord) => ReadValue<TelemetryPing>;

export function createPingRecordReader({ telemetryPings }: AvroCodecs): PingRecordReader {
  const read = createPingReader(telemetryPings);
  return ({ bytes, valueStart, valueEnd }) => (valueStart < 0 ? NO_VALUE : valueOf(read(bytes, valueStart, valueEnd)));
}

const UNIT_SEPARATOR = 0x1f;
const MAX_BYTES_PER_CHARACTER = 3;
const MAX_ID_BYTES = MAX_ID_LENGTH * MAX_BYTES_PER_CHARACTER;

/**
 * State is kept per fleet and device: the same device id may occur in two fleets. The key is both ids in UTF-8, separated
 * by U+001F, which no valid id contains.
 *
 * @returns false: an id is too long to be valid, so it has no key
 */
export function writeDeviceKey(key: KeyBuilder, ping: TelemetryPing): boolean {
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
}

/** Compares only bytes, without decoding the key or the id; also false if they cannot be compared that way. */
export function isKeyOfDevice(record: StreamRecord, ping: TelemetryPing): boolean {
  if (!(ping instanceof LazyTelemetryPing)) return false;
  const length = ping.deviceIdEnd - ping.deviceIdStart;
  if (record.keyStart < 0 || record.keyEnd - record.keyStart !== length) return false;
  for (let i = 0; i < length; i++) {
    if (record.bytes[record.keyStart + i] !== ping.bytes[ping.deviceIdStart + i]) return false;
  }
  return true;
}
