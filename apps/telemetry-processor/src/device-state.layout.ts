import type { DeviceState, GeofenceVisit } from '@waypost/domain';
import type { OverflowLayout, StructLayout } from '@waypost/streams';
import {
  ARMED,
  DEVICE_STATE_BYTES,
  FIX_TIME,
  FLAGS,
  GEOFENCES_SEEN_AT,
  HAS_FIX_TIME,
  HAS_GEOFENCES,
  HAS_IGNITION,
  HAS_LAST_SENT_TIME,
  HAS_LATITUDE,
  HAS_LONGITUDE,
  IGNITION_ON,
  IN_GEOFENCES,
  LAST_SENT_TIME,
  LATITUDE,
  LONGITUDE,
  NEWEST_EVENT_TIME,
  TRIP,
} from './device-state-bytes.js';
import { applyMove, forgetCalmArea } from './quiet-ping.js';
import { StoredDeviceState } from './stored-device-state.js';
import { tripLayout } from './trip.layout.js';

const NO_VISITS: readonly GeofenceVisit[] = Object.freeze([]);

/** A device that is in no geofence has no object. */
const visitsLayout: OverflowLayout<DeviceState, readonly GeofenceVisit[]> = {
  of: ({ geofences }) => (geofences === null || geofences.visits.length === 0 ? undefined : geofences.visits),
  isPresent: (view, at) => view.getUint8(at + IN_GEOFENCES) !== 0,
  toBytes: (visits) => Buffer.from(JSON.stringify(visits)),
  fromBytes: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as GeofenceVisit[],
};

/** The state of one device in 151 bytes, geofences that it is in aside; what is read is a view of the bytes. */
export const deviceStateLayout: StructLayout<DeviceState, readonly GeofenceVisit[]> = {
  byteLength: DEVICE_STATE_BYTES,
  version: 'device-state-4',
  overflow: visitsLayout,
  read: (view, at, visits) => new StoredDeviceState(view, at, visits ?? NO_VISITS),
  forget: forgetCalmArea,
  write: (view, at, state) => {
    if (state instanceof StoredDeviceState && state.move !== null) applyMove(view, at, state.move);
    else writeAll(view, at, state);
  },
};

const writeAll = (view: DataView, at: number, state: DeviceState): void => {
  const { newestEventTime, ignition, lastSentTime, armed, fixTime, latitude, longitude, geofences, trip } = state;
  const isInGeofences = geofences !== null && geofences.visits.length > 0;
  // The area is for the visits that were there when it was found.
  if (isInGeofences || view.getUint8(at + IN_GEOFENCES) !== 0) forgetCalmArea(view, at);
  view.setFloat64(at + NEWEST_EVENT_TIME, newestEventTime);
  view.setFloat64(at + LAST_SENT_TIME, lastSentTime ?? 0);
  view.setFloat64(at + FIX_TIME, fixTime ?? 0);
  view.setFloat64(at + LATITUDE, latitude ?? 0);
  view.setFloat64(at + LONGITUDE, longitude ?? 0);
  view.setFloat64(at + GEOFENCES_SEEN_AT, geofences === null ? 0 : geofences.seenAt);
  view.setUint8(at + IN_GEOFENCES, isInGeofences ? 1 : 0);
  tripLayout.write(view, at + TRIP, trip);
  const flags =
    (ignition === null ? 0 : ignition ? HAS_IGNITION | IGNITION_ON : HAS_IGNITION) |
    (armed ? ARMED : 0) |
    (lastSentTime === null ? 0 : HAS_LAST_SENT_TIME) |
    (fixTime === null ? 0 : HAS_FIX_TIME) |
    (latitude === null ? 0 : HAS_LATITUDE) |
    (longitude === null ? 0 : HAS_LONGITUDE) |
    (geofences === null ? 0 : HAS_GEOFENCES);
  view.setUint8(at + FLAGS, flags);
};
