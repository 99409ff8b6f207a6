// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** What the rules remember about one device. All times are event times, except seenAt of the geofences. */
export interface DeviceState {
  /** The greatest eventTime of the pings so far (epoch milliseconds). */
  readonly newestEventTime: number;
  /** As last reported; null: never reported. */
  readonly ignition: boolean | null;
  /** The eventTime of the last position event (epoch milliseconds). */
  readonly lastSentTime: number | null;
  /** The ignition has changed, and the position event for it is still to come. */
  readonly armed: boolean;
  /** The eventTime of the last valid fix (epoch milliseconds). */
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
  /** When the ping with that fix was appended to telemetry.pings. A geofence that was created later is new to the device (epoch milliseconds). */
  readonly seenAt: number;
  /** By geofenceId. */
  readonly visits: readonly GeofenceVisit[];
}

/** A geofence that the device is in, or has not yet left for certain. */
export interface GeofenceVisit {
  readonly geofenceId: string;
  /** The eventTime of geofence_in; null: the device was inside when it was first seen (epoch milliseconds). */
  readonly enteredAt: number | null;
  /** The eventTime of the first fix in a row beyond the margin; null: the last fix is within it (epoch milliseconds). */
  readonly leavingSince: number | null;
  /** How many fixes in a row are beyond the margin. */
  readonly leavingFixes: number;
}

/** Where the device is in its sequence of routes and stops. */
export interface Trip {
  /** When the route or the stop began; null: the stop in which the device was first seen (epoch milliseconds). */
  readonly since: number | null;
  /** Where the route or the stop began. */
  readonly latitude: number;
  /** Where the route or the stop began. */
  readonly longitude: number;
  /** At a stop: the newest valid ping was a moving one, so that a route may be about to start. */
  readonly moving: boolean;
  /** The greatest speed of the route; at a stop, the speed of the moving ping. null: none was reported. */
  readonly maxSpeedInKmh: number | null;
  /** null: the device is at a stop. */
  readonly route: RouteProgress | null;
  /** At a stop, after a moving ping: the eventTime of the ping without a fix that turned the ignition off (epoch milliseconds). */
  readonly ignitionOffSince: number | null;
}

/** A route that has not ended. */
export interface RouteProgress {
  /** The eventTime of the fix up to which the distance was measured (epoch milliseconds). */
  readonly wayTime: number;
  /** Of that fix. */
  readonly wayLatitude: number;
  /** Of that fix. */
  readonly wayLongitude: number;
  /** From the start of the route to that fix. */
  readonly distanceInMeters: number;
  /** How long the vehicle stood up to that fix. */
  readonly idleMs: number;
  /** The vehicle has stood there since that fix. */
  readonly standing: boolean;
  /** The eventTime of the ping that turned the ignition off; null: it is on (epoch milliseconds). */
  readonly ignitionOffSince: number | null;
  /** That fix reported no speed. */
  readonly wayWithoutSpeed: boolean;
}
