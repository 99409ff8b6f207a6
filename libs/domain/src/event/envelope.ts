import { formatTime } from '../time/instant.js';
import type { FleetEvent } from './fleet-event.js';
import { known } from './known.js';

/** The body of a delivery in the format `v1`: the envelope of R-11 with the common fields of R-13, in that order. */
export function serialiseEnvelope(event: FleetEvent, eventId: string): string {
  return JSON.stringify({
    eventId,
    eventTime: formatTime(event.eventTime),
    eventType: event.eventType,
    eventData: eventData(event),
  });
}

/** Keys in the order of R-13; those that are undefined do not reach the text. */
function eventData(event: FleetEvent): object {
  return {
    deviceId: event.deviceId,
    fleetId: event.fleetId,
    vehicleId: known(event.vehicleId),
    licensePlate: known(event.licensePlate),
    driverId: known(event.driverId),
    latitude: known(event.latitude),
    longitude: known(event.longitude),
    locationTime: event.locationTime === null ? undefined : formatTime(event.locationTime),
    altitudeInMeters: known(event.altitudeInMeters),
    speedInKmh: known(event.speedInKmh),
    heading: known(event.heading),
    ignition: known(event.ignition),
    odometerInMeters: known(event.odometerInMeters),
    batteryVoltage: known(event.batteryVoltage),
    connectionType: known(event.connectionType),
    rpm: known(event.rpm),
    fuelLevel: known(event.fuelLevel),
  };
}
