// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** What the rules remember of one device. Event time only, but for the time of the view of geofences. */
export interface DeviceState {
  /** Epoch milliseconds. */
  readonly newestEventTime: number;
  /** null: never known. */
  readonly ignition: boolean | null;
  /** eventTime of the last position sent (epoch milliseconds). */
  readonly lastSentTime: number | null;
  /** An ignition change waits for its position. */
  readonly armed: boolean;
  /** eventTime of the last valid fix (epoch milliseconds). */
  readonly fixTime: number | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** null: no valid fix yet. */
  readonly geofences: DeviceGeofences | null;
  /** null: no valid fix yet. */
  readonly trip: Trip | null;
}

/** The geofences of a device, as of its last valid fix. */
export interface DeviceGeofences {
  /** When the ping with that fix was appended to telemetry.pings: geofences that are newer are new to the device (epoch milliseconds). */
  readonly seenAt: number;
  /** By geofenceId. */
  readonly visits: readonly GeofenceVisit[];
}

/** A geofence that the device is in, or is not confirmed to have left. */
export interface GeofenceVisit {
  readonly geofenceId: string;
  /** eventTime of geofence_in; null: it was inside when it was first seen (epoch milliseconds). */
  readonly enteredAt: number | null;
  /** eventTime of the first of the fixes beyond the margin; null: the last fix is not (epoch milliseconds). */
  readonly leavingSince: number | null;
  /** How many of the last fixes are beyond the margin. */
  readonly leavingFixes: number;
}

/** Where the device is between its routes and stops. */
export interface Trip {
  /** When the route began, or else the stop; null: the stop in which the device was first seen (epoch milliseconds). */
  readonly since: number | null;
  /** With longitude: where the route began, or else the stop point. */
  readonly latitude: number;
  readonly longitude: number;
  /** At a stop: the newest valid ping was a moving one. */
  readonly moving: boolean;
  /** The greatest speed of the route; at a stop, that of the moving ping. null: none was reported. */
  readonly maxSpeedInKmh: number | null;
  /** null: at a stop. */
  readonly route: RouteProgress | null;
  /** At a stop, behind a moving ping: the ping without a fix that turned the ignition off since (epoch milliseconds). */
  readonly ignitionOffSince: number | null;
}

/** A route that goes on. */
export interface RouteProgress {
  /** Of the fix up to which the way was measured (epoch milliseconds). */
  readonly wayTime: number;
  readonly wayLatitude: number;
  readonly wayLongitude: number;
  /** From the start to there. */
  readonly distanceInMeters: number;
  /** Standing on the way to there. */
  readonly idleMs: number;
  /** The vehicle stands there since then. */
  readonly standing: boolean;
  /** The ping that turned the ignition off (epoch milliseconds). */
  readonly ignitionOffSince: number | null;
  /** The fix up to which the way was measured reported no speed. */
  readonly wayWithoutSpeed: boolean;
}
