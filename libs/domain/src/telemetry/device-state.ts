/**
 * What the rules remember of one device, as the schema `telemetry-processor.device-state-value` has it. It may
 * be a view of stored bytes: copy it field by field, never by spreading.
 */
export interface DeviceState {
  /** Epoch milliseconds of the newest ping taken. */
  readonly newestEventTime: number;
  /** null: never known. */
  readonly ignition: boolean | null;
  /** eventTime of the last position sent, epoch milliseconds. */
  readonly lastSentTime: number | null;
  /** An ignition change waits for its position. */
  readonly armed: boolean;
  /** eventTime of the last valid fix, epoch milliseconds; latitude and longitude are that fix. */
  readonly fixTime: number | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** null: no valid fix yet, or geofences were not looked at. */
  readonly geofences: DeviceGeofences | null;
  /** null: no valid fix yet, or one that came before there were routes. */
  readonly trip: Trip | null;
}

/** The geofences of a device, as of its last valid fix. */
export interface DeviceGeofences {
  /**
   * When the ping with that fix was appended to `telemetry.pings`, epoch milliseconds: geofences that are newer are new
   * to the device. It never goes back.
   */
  readonly seenAt: number;
  /** By geofenceId. Another array whenever it holds something else. */
  readonly visits: readonly GeofenceVisit[];
}

/** A geofence that the device is in, or is not confirmed to have left. */
export interface GeofenceVisit {
  readonly geofenceId: string;
  /** eventTime of geofence_in, epoch milliseconds; null: it was inside when it was first seen. */
  readonly enteredAt: number | null;
  /** eventTime of the first of the fixes beyond the margin, epoch milliseconds; null: the last fix is not. */
  readonly leavingSince: number | null;
  /** How many of the last fixes are beyond the margin. */
  readonly leavingFixes: number;
}

/** Where a device is between its routes and stops. Times are epoch milliseconds, places WGS-84 degrees. */
export interface Trip {
  /** When the route began, or else the stop; null: the stop in which the device was first seen. */
  readonly since: number | null;
  /** Where the route began, or else the stop point. */
  readonly latitude: number;
  readonly longitude: number;
  /** At a stop: the newest valid ping was a moving one, so the next one may begin a route at it. */
  readonly moving: boolean;
  /** The greatest speed of the route; at a stop, that of the moving ping. null: none was reported. */
  readonly maxSpeedInKmh: number | null;
  /** null: at a stop. */
  readonly route: RouteProgress | null;
  /**
   * At a stop, behind a moving ping: the ping without a fix that turned the ignition off since, epoch milliseconds. A route
   * that begins at the moving ping has it from then on. null: none.
   */
  readonly ignitionOffSince: number | null;
}

/** A route that goes on. */
export interface RouteProgress {
  /** The fix up to which the way was measured: the newest one, or where the vehicle stands. */
  readonly wayTime: number;
  readonly wayLatitude: number;
  readonly wayLongitude: number;
  /** From the start to there. */
  readonly distanceInMeters: number;
  /** Standing on the way to there. */
  readonly idleMs: number;
  /** The vehicle stands there since then: every valid ping from that fix on is still. */
  readonly standing: boolean;
  /** The ping that turned the ignition off; null: on, unknown, or off since before the route. */
  readonly ignitionOffSince: number | null;
}
