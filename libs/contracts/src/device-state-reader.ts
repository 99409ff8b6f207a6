import { AvroCursor } from './avro-cursor.js';
import type { DeviceState } from './generated/device-state.js';
import type { DecodeResult, SubjectCodec } from './subject-codec.js';

/** Decodes the device state that lies from `start` to `end` in `bytes`. */
export type DeviceStateReader = (bytes: Buffer, start: number, end: number) => DecodeResult<DeviceState>;

/** As the codec does, at a third of the cost: a restore reads millions of them before the first ping. */
export function createDeviceStateReader(codec: SubjectCodec<DeviceState>): DeviceStateReader {
  const cursor = new AvroCursor();
  const readOwn = (bytes: Buffer, start: number, end: number): DeviceState => {
    cursor.reset(bytes, start, end);
    const state = readDeviceState(cursor);
    cursor.expectEnd();
    return state;
  };
  return (bytes, start, end) => codec.decodeRange(bytes, start, end, readOwn);
}

/** Fields in the order of the schema, which is the order of the bytes. */
function readDeviceState(cursor: AvroCursor): DeviceState {
  return {
    newestEventTime: cursor.long(),
    ignition: cursor.optionalBoolean(),
    lastSentTime: cursor.optionalLong(),
    armed: cursor.boolean(),
    fixTime: cursor.optionalLong(),
    latitude: cursor.optionalDouble(),
    longitude: cursor.optionalDouble(),
  };
}
