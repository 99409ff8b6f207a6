import type { FleetEvent } from '../records/fleet-event.js';
import { known } from './envelope.js';

/** one flat object. Unknown fields are omitted: a receiver could not distinguish a made-up value from a reported one. */
export function serializeLegacyV1(event: FleetEvent, eventId: string): string {
  return JSON.stringify({
    event_id: eventId,
    event: event.eventType,
    fleet_id: event.fleetId,
    device_id: event.deviceId,
    timestamp: event.eventTime,
    lat: known(event.latitude),
    lng: known(event.longitude),
    speed: known(event.speedInKmh),
    direction: known(event.heading),
    ignition: event.ignition === null ? undefined : Number(event.ignition),
    odometer: odometerInKm(event.odometerInMeters),
    vehicle_id: known(event.vehicleId),
    license_plate: known(event.licensePlate),
    driver_id: known(event.driverId),
    battery: known(event.batteryVoltage),
    rpm: known(event.rpm),
    fuel_level: known(event.fuelLevel),
    geofence_id: known(event.geofenceId),
    geofence_name: known(event.geofenceName),
    route_id: known(event.routeId),
    activity_id: known(event.activityId),
  });
}

function odometerInKm(meters: number | null): number | undefined {
  const reported = known(meters);
  return reported === undefined ? undefined : Math.round(reported / 100) / 10;
}
