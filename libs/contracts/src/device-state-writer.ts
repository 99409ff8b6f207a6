import type { AvroEncoder } from './avro-encoder.js';
import type { DeviceGeofences, DeviceState, GeofenceVisit, RouteProgress, Trip } from '@waypost/domain';

/** Fields in the order of the schema; the spec beside this file compares the bytes with those of avsc. */
export function writeDeviceState(to: AvroEncoder, state: DeviceState): void {
  to.long(state.newestEventTime);
  to.optionalBoolean(state.ignition);
  to.optionalLong(state.lastSentTime);
  to.boolean(state.armed);
  to.optionalLong(state.fixTime);
  to.optionalDouble(state.latitude);
  to.optionalDouble(state.longitude);
  if (to.present(state.geofences)) writeGeofences(to, state.geofences);
  if (to.present(state.trip)) writeTrip(to, state.trip);
}

function writeGeofences(to: AvroEncoder, { seenAt, visits }: DeviceGeofences): void {
  to.long(seenAt);
  to.array(visits, writeVisit);
}

function writeVisit(to: AvroEncoder, { geofenceId, enteredAt, leavingSince, leavingFixes }: GeofenceVisit): void {
  to.string(geofenceId);
  to.optionalLong(enteredAt);
  to.optionalLong(leavingSince);
  to.int(leavingFixes);
}

function writeTrip(to: AvroEncoder, trip: Trip): void {
  to.optionalLong(trip.since);
  to.double(trip.latitude);
  to.double(trip.longitude);
  to.boolean(trip.moving);
  to.optionalDouble(trip.maxSpeedInKmh);
  if (to.present(trip.route)) writeRoute(to, trip.route);
  to.optionalLong(trip.ignitionOffSince);
}

function writeRoute(to: AvroEncoder, route: RouteProgress): void {
  to.long(route.wayTime);
  to.double(route.wayLatitude);
  to.double(route.wayLongitude);
  to.double(route.distanceInMeters);
  to.long(route.idleMs);
  to.boolean(route.standing);
  to.optionalLong(route.ignitionOffSince);
}
