import type { FleetEvent } from '../records/fleet-event.js';

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
