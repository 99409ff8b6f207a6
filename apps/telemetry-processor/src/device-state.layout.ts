import type { DeviceState } from '@waypost/domain';
import type { StructLayout } from '@waypost/streams';

const NEWEST_EVENT_TIME = 0;
const LAST_SENT_TIME = 8;
const FIX_TIME = 16;
const LATITUDE = 24;
const LONGITUDE = 32;
const FLAGS = 40;

/** A set bit: the value is there. What is null has no bit, so no number has to stand for null. */
const HAS_IGNITION = 1;
const IGNITION_ON = 2;
const ARMED = 4;
const HAS_LAST_SENT_TIME = 8;
const HAS_FIX_TIME = 16;
const HAS_LATITUDE = 32;
const HAS_LONGITUDE = 64;

/** The state of one device in 41 bytes. */
export const deviceStateLayout: StructLayout<DeviceState> = {
  byteLength: 41,
  version: 'device-state-1',
  read: (view, at) => {
    const flags = view.getUint8(at + FLAGS);
    return {
      newestEventTime: view.getFloat64(at + NEWEST_EVENT_TIME),
      ignition: (flags & HAS_IGNITION) === 0 ? null : (flags & IGNITION_ON) !== 0,
      lastSentTime: (flags & HAS_LAST_SENT_TIME) === 0 ? null : view.getFloat64(at + LAST_SENT_TIME),
      armed: (flags & ARMED) !== 0,
      fixTime: (flags & HAS_FIX_TIME) === 0 ? null : view.getFloat64(at + FIX_TIME),
      latitude: (flags & HAS_LATITUDE) === 0 ? null : view.getFloat64(at + LATITUDE),
      longitude: (flags & HAS_LONGITUDE) === 0 ? null : view.getFloat64(at + LONGITUDE),
    };
  },
  write: (view, at, { newestEventTime, ignition, lastSentTime, armed, fixTime, latitude, longitude }) => {
    view.setFloat64(at + NEWEST_EVENT_TIME, newestEventTime);
    view.setFloat64(at + LAST_SENT_TIME, lastSentTime ?? 0);
    view.setFloat64(at + FIX_TIME, fixTime ?? 0);
    view.setFloat64(at + LATITUDE, latitude ?? 0);
    view.setFloat64(at + LONGITUDE, longitude ?? 0);
    const flags =
      (ignition === null ? 0 : ignition ? HAS_IGNITION | IGNITION_ON : HAS_IGNITION) |
      (armed ? ARMED : 0) |
      (lastSentTime === null ? 0 : HAS_LAST_SENT_TIME) |
      (fixTime === null ? 0 : HAS_FIX_TIME) |
      (latitude === null ? 0 : HAS_LATITUDE) |
      (longitude === null ? 0 : HAS_LONGITUDE);
    view.setUint8(at + FLAGS, flags);
  },
};
