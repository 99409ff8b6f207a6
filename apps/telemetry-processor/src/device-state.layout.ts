import type { DeviceGeofences, DeviceState, GeofenceVisit, Trip } from '@waypost/domain';
import type { RestLayout, StructLayout } from '@waypost/streams';
import { tripLayout } from './trip.layout.js';

const NEWEST_EVENT_TIME = 0;
const LAST_SENT_TIME = 8;
const FIX_TIME = 16;
const LATITUDE = 24;
const LONGITUDE = 32;
const FLAGS = 40;
const GEOFENCES_SEEN_AT = 41;
const TRIP = 49;
const IN_GEOFENCES = TRIP + tripLayout.byteLength;

/** A set bit: the value is there. What is null has no bit, so no number has to stand for null. */
const HAS_IGNITION = 1;
const IGNITION_ON = 2;
const ARMED = 4;
const HAS_LAST_SENT_TIME = 8;
const HAS_FIX_TIME = 16;
const HAS_LATITUDE = 32;
const HAS_LONGITUDE = 64;
const HAS_GEOFENCES = 128;

const NO_VISITS: readonly GeofenceVisit[] = Object.freeze([]);

/** A device that is in no geofence has no object. */
const visitsLayout: RestLayout<DeviceState, readonly GeofenceVisit[]> = {
  of: ({ geofences }) => (geofences === null || geofences.visits.length === 0 ? undefined : geofences.visits),
  isPresent: (view, at) => view.getUint8(at + IN_GEOFENCES) !== 0,
  toBytes: (visits) => Buffer.from(JSON.stringify(visits)),
  fromBytes: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as GeofenceVisit[],
};

/** As it lies in the store, read when it is looked at. To be let go before the next change of the store. */
class StoredDeviceState implements DeviceState {
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
    return tripLayout.read(this.view, this.at + TRIP);
  }

  private optional(flag: number, offset: number): number | null {
    return (this.flags & flag) === 0 ? null : this.view.getFloat64(this.at + offset);
  }
}

/** The state of one device in 131 bytes, geofences that it is in aside; what is read is a view of the bytes. */
export const deviceStateLayout: StructLayout<DeviceState, readonly GeofenceVisit[]> = {
  byteLength: IN_GEOFENCES + 1,
  version: 'device-state-3',
  rest: visitsLayout,
  read: (view, at, visits) => new StoredDeviceState(view, at, visits ?? NO_VISITS),
  write: (
    view,
    at,
    { newestEventTime, ignition, lastSentTime, armed, fixTime, latitude, longitude, geofences, trip },
  ) => {
    view.setFloat64(at + NEWEST_EVENT_TIME, newestEventTime);
    view.setFloat64(at + LAST_SENT_TIME, lastSentTime ?? 0);
    view.setFloat64(at + FIX_TIME, fixTime ?? 0);
    view.setFloat64(at + LATITUDE, latitude ?? 0);
    view.setFloat64(at + LONGITUDE, longitude ?? 0);
    view.setFloat64(at + GEOFENCES_SEEN_AT, geofences === null ? 0 : geofences.seenAt);
    view.setUint8(at + IN_GEOFENCES, geofences !== null && geofences.visits.length > 0 ? 1 : 0);
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
  },
};
