import type { Geofence } from './geofence.js';
import type { GeofenceShape } from './shape.js';

/** A geofence as it was from one record of `fleet.geofences` to the next; times are the broker's, epoch milliseconds. */
export interface GeofenceVersion {
  readonly geofence: Geofence;
  readonly shape: GeofenceShape;
  /** When the geofence itself came to be, under whichever version. */
  readonly since: number;
  readonly from: number;
  /** Exclusive; Infinity: still in force. */
  to: number;
}

export const isInForce = ({ from, to }: GeofenceVersion, at: number): boolean => from <= at && at < to;
