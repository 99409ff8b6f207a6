import type { FleetEvent } from '../records/fleet-event.js';

export type FleetEventDraft = { -readonly [Field in keyof FleetEvent]: FleetEvent[Field] };

/** Sets only the identity and the time; callers set other fields one by one, since spreads cost more than all other work. */
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
