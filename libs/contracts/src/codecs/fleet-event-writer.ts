import type { FleetEvent } from '@waypost/domain';
import type { AvroEncoder } from '../avro/avro-encoder.js';

/** Fields in the order of the schema; avro-encoder.spec.ts compares the bytes with those of avsc. */
export function writeFleetEvent(to: AvroEncoder, event: FleetEvent): void {
  to.string(event.fleetId);
  to.string(event.deviceId);
  to.string(event.eventType);
  to.long(event.eventTime);
  to.optionalString(event.resourceId);
  to.optionalString(event.vehicleId);
  to.optionalString(event.licensePlate);
  to.optionalString(event.driverId);
  to.optionalDouble(event.latitude);
  to.optionalDouble(event.longitude);
  to.optionalLong(event.locationTime);
  writeMeasurements(to, event);
  writeDetails(to, event);
}

function writeMeasurements(to: AvroEncoder, event: FleetEvent): void {
  to.optionalDouble(event.altitudeInMeters);
  to.optionalDouble(event.speedInKmh);
  to.optionalDouble(event.heading);
  to.optionalBoolean(event.ignition);
  to.optionalLong(event.odometerInMeters);
  to.optionalDouble(event.batteryVoltage);
  to.optionalString(event.connectionType);
  to.optionalInt(event.rpm);
  to.optionalDouble(event.fuelLevel);
}

function writeDetails(to: AvroEncoder, event: FleetEvent): void {
  to.optionalString(event.geofenceId);
  to.optionalString(event.geofenceName);
  to.optionalLong(event.enteredAt);
  to.optionalDouble(event.durationInSeconds);
  to.optionalString(event.routeId);
  to.optionalString(event.activityId);
  to.optionalLong(event.startTime);
  to.optionalLong(event.endTime);
  if (to.present(event.startLocation)) writePlace(to, event.startLocation);
  if (to.present(event.endLocation)) writePlace(to, event.endLocation);
  to.optionalLong(event.distanceInMeters);
  to.optionalDouble(event.maxSpeedInKmh);
  to.optionalDouble(event.averageSpeedInKmh);
  to.optionalDouble(event.idleTimeInSeconds);
  to.optionalString(event.endReason);
}

function writePlace(to: AvroEncoder, place: { readonly latitude: number; readonly longitude: number }): void {
  to.double(place.latitude);
  to.double(place.longitude);
}
