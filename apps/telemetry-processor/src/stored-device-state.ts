import type {
  DeviceGeofences,
  DeviceState,
  FixedPing,
  GeoBox,
  GeofenceVisit,
  RuleSettings,
  Trip,
} from '@waypost/domain';
import {
  ARMED,
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
  LAST_SENT_TIME,
  LATITUDE,
  LONGITUDE,
  NEWEST_EVENT_TIME,
  TRIP,
} from './device-state-bytes.js';
import { tripLayout } from './trip.layout.js';

/** What a quiet ping changes of its device. */
export interface QuietMove {
  readonly ping: FixedPing;
  readonly settings: RuleSettings;
  /** Metres of one more leg of the route, or NO_LEG. */
  readonly leg: number;
  /** Of geofences, epoch milliseconds. */
  readonly seenAt: number;
  /** null: the one that is known still holds the fix, or there is no geofence. */
  readonly calmArea: GeoBox | null;
  readonly revision: number;
}

/** As it lies in the store, read when it is looked at. To be let go before the next change of the store. */
export class StoredDeviceState implements DeviceState {
  private readonly flags: number;
  /** What is to be changed of it, when it is put. */
  move: QuietMove | null = null;

  constructor(
    readonly view: DataView,
    readonly at: number,
    readonly visits: readonly GeofenceVisit[],
  ) {
    this.flags = view.getUint8(at + FLAGS);
  }

  movedBy(move: QuietMove): this {
    this.move = move;
    return this;
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
