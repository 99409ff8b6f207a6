// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** One event of one device, before fan-out: it belongs to no subscription and has no eventId yet. */
export interface FleetEvent {
  readonly fleetId: string;
  readonly deviceId: string;
  readonly eventType: string;
  /** Epoch milliseconds. */
  readonly eventTime: number;
  /** routeId, activityId or geofenceId; enters the eventId. */
  readonly resourceId: string | null;
  readonly vehicleId: string | null;
  readonly licensePlate: string | null;
  readonly driverId: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** Only when the fix is older than the event (epoch milliseconds). */
  readonly locationTime: number | null;
  readonly altitudeInMeters: number | null;
  readonly speedInKmh: number | null;
  /** Degrees, 0 <= heading < 360, true north. */
  readonly heading: number | null;
  readonly ignition: boolean | null;
  readonly odometerInMeters: number | null;
  readonly batteryVoltage: number | null;
  readonly connectionType: string | null;
  readonly rpm: number | null;
  readonly fuelLevel: number | null;
  /** Of geofence_in and geofence_out. */
  readonly geofenceId: string | null;
  /** As it was named when the ping came. */
  readonly geofenceName: string | null;
  /** Of geofence_out; null: it was inside when it was first seen (epoch milliseconds). */
  readonly enteredAt: number | null;
  /** From the start of what ended to its end, to the millisecond. */
  readonly durationInSeconds: number | null;
  /** Of route_started and route_finished. */
  readonly routeId: string | null;
  /** Of stop_started and stop_finished. */
  readonly activityId: string | null;
  /** Of a route or stop (epoch milliseconds). */
  readonly startTime: number | null;
  /** Of a finished route or stop (epoch milliseconds). */
  readonly endTime: number | null;
  /** Of a route. */
  readonly startLocation: StartLocation | null;
  /** Of a finished route, as what follows. */
  readonly endLocation: EndLocation | null;
  /** Whole meters. */
  readonly distanceInMeters: number | null;
  readonly maxSpeedInKmh: number | null;
  /** One decimal. */
  readonly averageSpeedInKmh: number | null;
  /** Standing, to the millisecond. */
  readonly idleTimeInSeconds: number | null;
  /** ignition_off | stationary | no_data */
  readonly endReason: string | null;
}

/** Where a route began, WGS-84 degrees. */
export interface StartLocation {
  readonly latitude: number;
  readonly longitude: number;
}

/** Where a route ended, WGS-84 degrees. */
export interface EndLocation {
  readonly latitude: number;
  readonly longitude: number;
}
