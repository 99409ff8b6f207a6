import type { FleetEvent } from '../records/fleet-event.js';
import { formatTime } from '../time/instant.js';

/** the body of a delivery in the format `v1`. */
export function serializeEnvelope(event: FleetEvent, eventId: string): string {
  return JSON.stringify({
    eventId,
    eventTime: formatTime(event.eventTime),
    eventType: event.eventType,
    eventData: eventData(event),
  });
}

/** keys are in this order; JSON omits undefined ones. */
function eventData(event: FleetEvent): object {
  return {
    deviceId: event.deviceId,
    fleetId: event.fleetId,
    vehicleId: known(event.vehicleId),
    licensePlate: known(event.licensePlate),
    driverId: known(event.driverId),
    latitude: known(event.latitude),
    longitude: known(event.longitude),
    locationTime: timeOf(event.locationTime),
    altitudeInMeters: known(event.altitudeInMeters),
    speedInKmh: known(event.speedInKmh),
    heading: known(event.heading),
    ignition: known(event.ignition),
    odometerInMeters: known(event.odometerInMeters),
    batteryVoltage: known(event.batteryVoltage),
    connectionType: known(event.connectionType),
    rpm: known(event.rpm),
    fuelLevel: known(event.fuelLevel),
    ...(event.resourceId === null ? undefined : ownData(event)),
  };
}

function ownData(event: FleetEvent): object {
  return {
    geofenceId: known(event.geofenceId),
    geofenceName: known(event.geofenceName),
    enteredAt: timeOf(event.enteredAt),
    routeId: known(event.routeId),
    activityId: known(event.activityId),
    startTime: timeOf(event.startTime),
    startLocation: event.startLocation ?? undefined,
    endTime: timeOf(event.endTime),
    endLocation: event.endLocation ?? undefined,
    distanceInMeters: known(event.distanceInMeters),
    durationInSeconds: known(event.durationInSeconds),
    maxSpeedInKmh: known(event.maxSpeedInKmh),
    averageSpeedInKmh: known(event.averageSpeedInKmh),
    idleTimeInSeconds: known(event.idleTimeInSeconds),
    endReason: known(event.endReason),
  };
}

function timeOf(ms: number | null): string | undefined {
  return ms === null ? undefined : formatTime(ms);
}

/** maps unknown values to undefined, which JSON.stringify() omits. It would write a non-finite number as null. */
export function known<T extends string | number | boolean>(value: T | null): T | undefined {
  if (value === null || (typeof value === 'number' && !Number.isFinite(value))) return undefined;
  return value;
}
