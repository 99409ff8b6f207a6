// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** One event of one device, before fan-out. It belongs to no subscription and has no eventId yet. */
export interface FleetEvent {
  readonly fleetId: string;
  readonly deviceId: string;
  /** One of the event types of docs/reference/webhooks.md; there may be new ones. */
  readonly eventType: string;
  /** When it happened, by the clock of the device (epoch milliseconds). */
  readonly eventTime: number;
  /** The routeId, activityId or geofenceId; it is part of the eventId. */
  readonly resourceId: string | null;
  readonly vehicleId: string | null;
  readonly licensePlate: string | null;
  readonly driverId: string | null;
  /** WGS-84 degrees. */
  readonly latitude: number | null;
  /** WGS-84 degrees. */
  readonly longitude: number | null;
  /** When the fix was taken; null when it is as old as the event (epoch milliseconds). */
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
  /** Percent. */
  readonly fuelLevel: number | null;
  /** For geofence_in and geofence_out. */
  readonly geofenceId: string | null;
  /** The name when the ping was processed. */
  readonly geofenceName: string | null;
  /** For geofence_out; null if the device was inside when it was first seen (epoch milliseconds). */
  readonly enteredAt: number | null;
  /** Of the visit, route or stop that has ended, to the millisecond. */
  readonly durationInSeconds: number | null;
  /** For route_started and route_finished. */
  readonly routeId: string | null;
  /** For stop_started and stop_finished. */
  readonly activityId: string | null;
  /** When the route or stop began (epoch milliseconds). */
  readonly startTime: number | null;
  /** When the route or stop ended (epoch milliseconds). */
  readonly endTime: number | null;
  /** Where the route began. */
  readonly startLocation: StartLocation | null;
  /** Where the route ended. */
  readonly endLocation: EndLocation | null;
  /** Of a finished route, in whole meters. */
  readonly distanceInMeters: number | null;
  /** Of a finished route. */
  readonly maxSpeedInKmh: number | null;
  /** Of a finished route, to one decimal. */
  readonly averageSpeedInKmh: number | null;
  /** How long the vehicle stood during the route, to the millisecond. */
  readonly idleTimeInSeconds: number | null;
  /** Why the route ended: ignition_off | stationary | no_data */
  readonly endReason: string | null;
}

/** Where a route began, WGS-84 degrees. */
export interface StartLocation {
  /** WGS-84 degrees. */
  readonly latitude: number;
  /** WGS-84 degrees. */
  readonly longitude: number;
}

/** Where a route ended, WGS-84 degrees. */
export interface EndLocation {
  /** WGS-84 degrees. */
  readonly latitude: number;
  /** WGS-84 degrees. */
  readonly longitude: number;
}
