/**
 * One event of one device before fan-out, as the schema `fleet.events-value` has it. It belongs to no
 * subscription yet and so has no eventId. null means "unknown".
 */
export interface FleetEvent {
  readonly fleetId: string;
  readonly deviceId: string;
  /** One of EVENT_TYPES. */
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
  /** Epoch milliseconds; only when the fix is older than the event. */
  readonly locationTime: number | null;
  readonly altitudeInMeters: number | null;
  readonly speedInKmh: number | null;
  /** Degrees, 0 <= heading < 360, true north. */
  readonly heading: number | null;
  /** The state after the event. */
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
  /** Epoch milliseconds, of geofence_out; null: the device was inside when it was first seen. */
  readonly enteredAt: number | null;
  /** From the start of what ended to its end, to the millisecond. */
  readonly durationInSeconds: number | null;
  /** Of route_started and route_finished. */
  readonly routeId: string | null;
  /** Of stop_started and stop_finished. */
  readonly activityId: string | null;
  /** Epoch milliseconds, of a route or stop. */
  readonly startTime: number | null;
  /** Epoch milliseconds, of a finished route or stop. */
  readonly endTime: number | null;
  /** Of a route. */
  readonly startLocation: StartLocation | null;
  /** Of a finished route, as what follows. */
  readonly endLocation: EndLocation | null;
  /** Whole metres. */
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

/** An event that is being made. */
export type FleetEventDraft = { -readonly [Field in keyof FleetEvent]: FleetEvent[Field] };

/**
 * An event of which nothing is known yet but whose it is, what and when. What else is known is put in field by field: to spread
 * objects into each other takes more than all else that is done for an event.
 *
 * @param eventTime epoch milliseconds
 */
export function draftEvent(fleetId: string, deviceId: string, eventType: string, eventTime: number): FleetEventDraft {
  return {
    fleetId,
    deviceId,
    eventType,
    eventTime,
    resourceId: null,
    vehicleId: null,
    licensePlate: null,
    driverId: null,
    latitude: null,
    longitude: null,
    locationTime: null,
    altitudeInMeters: null,
    speedInKmh: null,
    heading: null,
    ignition: null,
    odometerInMeters: null,
    batteryVoltage: null,
    connectionType: null,
    rpm: null,
    fuelLevel: null,
    geofenceId: null,
    geofenceName: null,
    enteredAt: null,
    durationInSeconds: null,
    routeId: null,
    activityId: null,
    startTime: null,
    endTime: null,
    startLocation: null,
    endLocation: null,
    distanceInMeters: null,
    maxSpeedInKmh: null,
    averageSpeedInKmh: null,
    idleTimeInSeconds: null,
    endReason: null,
  };
}
