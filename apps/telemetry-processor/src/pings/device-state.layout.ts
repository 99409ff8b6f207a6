import type { OverflowLayout, StructLayout } from '@waypost/compact-store';
import type { DeviceGeofences, DeviceState, GeofenceVisit, MovedPing, Trip } from '@waypost/domain';
import { readTrip, TRIP_BYTES, writeLeg, writeTrip } from './trip.layout.js';

const FLAGS = 0;
const IN_GEOFENCES = 1;
const NEWEST_EVENT_TIME = 2;
const LATITUDE = 10;
const LONGITUDE = 18;
const FIX_TIME = 26;
const LAST_SENT_TIME = 34;
const GEOFENCES_SEEN_AT = 42;
const TRIP = 50;
const DEVICE_STATE_BYTES = TRIP + TRIP_BYTES;

/** A set bit means that the value is present. Null has no bit, so no number has to stand for it. */
const HAS_IGNITION = 1;
const IGNITION_ON = 2;
const ARMED = 4;
const HAS_LAST_SENT_TIME = 8;
const HAS_FIX_TIME = 16;
const HAS_LATITUDE = 32;
const HAS_LONGITUDE = 64;
const HAS_GEOFENCES = 128;

const NO_VISITS: readonly GeofenceVisit[] = Object.freeze([]);

/** A view of a device's state in the store, which reads each field on access. Valid until the next change of the store. */
export class StoredDeviceState implements DeviceState {
  private readonly flags: number;

  constructor(
    private readonly view: DataView,
    private readonly at: number,
    private readonly visits: readonly GeofenceVisit[],
  ) {
    this.flags = view.getUint8(at + FLAGS);
  }

  get newestEventTime(): number {
    return this.view.getFloat64(this.at + NEWEST_EVENT_TIME);
  }

  get ignition(): boolean | null {
    return (this.flags & HAS_IGNITION) === 0 ? null : (this.flags & IGNITION_ON) !== 0;
  }

  get lastSentTime(): number | null {
    return this.optional(HAS_LAST_SENT_TIME, LAST_SENT_TIME);
  }

  get armed(): boolean {
    return (this.flags & ARMED) !== 0;
  }

  get fixTime(): number | null {
    return this.optional(HAS_FIX_TIME, FIX_TIME);
  }

  get latitude(): number | null {
    return this.optional(HAS_LATITUDE, LATITUDE);
  }

  get longitude(): number | null {
    return this.optional(HAS_LONGITUDE, LONGITUDE);
  }

  get geofences(): DeviceGeofences | null {
    if ((this.flags & HAS_GEOFENCES) === 0) return null;
    return { seenAt: this.view.getFloat64(this.at + GEOFENCES_SEEN_AT), visits: this.visits };
  }

  get trip(): Trip | null {
    return readTrip(this.view, this.at + TRIP);
  }

  /** Writes the result of evolveDevice() in place. Only for a view that the store gave for a change. */
  move({ fix, geofencesSeenAt, leg }: MovedPing): void {
    const { view, at } = this;
    view.setFloat64(at + NEWEST_EVENT_TIME, fix.eventTime);
    view.setFloat64(at + FIX_TIME, fix.eventTime);
    view.setFloat64(at + LATITUDE, fix.latitude);
    view.setFloat64(at + LONGITUDE, fix.longitude);
    view.setUint8(at + FLAGS, this.flags | HAS_FIX_TIME | HAS_LATITUDE | HAS_LONGITUDE);
    if (geofencesSeenAt !== null) view.setFloat64(at + GEOFENCES_SEEN_AT, geofencesSeenAt);
    if (leg !== null) writeLeg(view, at + TRIP, fix, leg);
  }

  private optional(flag: number, offset: number): number | null {
    return (this.flags & flag) === 0 ? null : this.view.getFloat64(this.at + offset);
  }
}

/** A device that is in no geofence has no object. */
const visitsLayout: OverflowLayout<DeviceState, readonly GeofenceVisit[]> = {
  of: ({ geofences }) => (geofences === null || geofences.visits.length === 0 ? undefined : geofences.visits),
  isPresent: (view, at) => view.getUint8(at + IN_GEOFENCES) !== 0,
  toBytes: (visits) => Buffer.from(JSON.stringify(visits)),
  fromBytes: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as GeofenceVisit[],
};

/** The state of one device in 131 bytes, without the geofences that it is in. */
export const deviceStateLayout: StructLayout<DeviceState, readonly GeofenceVisit[], StoredDeviceState> = {
  byteLength: DEVICE_STATE_BYTES,
  version: 'device-state-5',
  overflow: visitsLayout,
  read: (view, at, visits) => new StoredDeviceState(view, at, visits ?? NO_VISITS),
  write: writeDeviceState,
};

function writeDeviceState(view: DataView, at: number, state: DeviceState): void {
  const { newestEventTime, ignition, lastSentTime, armed, fixTime, latitude, longitude, geofences, trip } = state;
  view.setFloat64(at + NEWEST_EVENT_TIME, newestEventTime);
  view.setFloat64(at + LAST_SENT_TIME, lastSentTime ?? 0);
  view.setFloat64(at + FIX_TIME, fixTime ?? 0);
  view.setFloat64(at + LATITUDE, latitude ?? 0);
  view.setFloat64(at + LONGITUDE, longitude ?? 0);
  view.setFloat64(at + GEOFENCES_SEEN_AT, geofences === null ? 0 : geofences.seenAt);
  view.setUint8(at + IN_GEOFENCES, geofences !== null && geofences.visits.length > 0 ? 1 : 0);
  writeTrip(view, at + TRIP, trip);
  const flags =
    (ignition === null ? 0 : ignition ? HAS_IGNITION | IGNITION_ON : HAS_IGNITION) |
    (armed ? ARMED : 0) |
    (lastSentTime === null ? 0 : HAS_LAST_SENT_TIME) |
    (fixTime === null ? 0 : HAS_FIX_TIME) |
    (latitude === null ? 0 : HAS_LATITUDE) |
    (longitude === null ? 0 : HAS_LONGITUDE) |
    (geofences === null ? 0 : HAS_GEOFENCES);
  view.setUint8(at + FLAGS, flags);
}
