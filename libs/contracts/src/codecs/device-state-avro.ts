import type { DeviceGeofences, DeviceState, GeofenceVisit, RouteProgress, Trip } from '@waypost/domain';
import { AvroCursor } from '../avro/avro-cursor.js';
import type { AvroEncoder } from '../avro/avro-encoder.js';
import type { DecodeResult, SubjectCodec } from './subject-codec.js';

/** Decodes the device state from `start` to `end` of `bytes`. */
export type DeviceStateReader = (bytes: Buffer, start: number, end: number) => DecodeResult<DeviceState>;

/** Same results as the codec, at a third of the cost: a restore reads millions of them before the first ping. */
export function createDeviceStateReader(codec: SubjectCodec<DeviceState>): DeviceStateReader {
  const cursor = new AvroCursor();
  const readOwn = (bytes: Buffer, start: number, end: number): DeviceState => {
    cursor.reset(bytes, start, end);
    const state = readDeviceState(cursor);
    cursor.expectEnd();
    return state;
  };
  return (bytes, start, end) => codec.decodeRange(bytes, start, end, readOwn);
}

/** Fields in the order of the schema, which is the order of the bytes. */
function readDeviceState(cursor: AvroCursor): DeviceState {
  return {
    newestEventTime: cursor.long(),
    ignition: cursor.optionalBoolean(),
    lastSentTime: cursor.optionalLong(),
    armed: cursor.boolean(),
    fixTime: cursor.optionalLong(),
    latitude: cursor.optionalDouble(),
    longitude: cursor.optionalDouble(),
    geofences: cursor.present() ? readGeofences(cursor) : null,
    trip: cursor.present() ? readTrip(cursor) : null,
  };
}

function readGeofences(cursor: AvroCursor): DeviceGeofences {
  const seenAt = cursor.long();
  const visits: GeofenceVisit[] = [];
  for (let left = cursor.blockCount(); left > 0; left = cursor.blockCount()) {
    for (; left > 0; left--) visits.push(readVisit(cursor));
  }
  return { seenAt, visits };
}

function readVisit(cursor: AvroCursor): GeofenceVisit {
  return {
    geofenceId: cursor.string(),
    enteredAt: cursor.optionalLong(),
    leavingSince: cursor.optionalLong(),
    leavingFixes: cursor.int(),
  };
}

function readTrip(cursor: AvroCursor): Trip {
  return {
    since: cursor.optionalLong(),
    latitude: cursor.double(),
    longitude: cursor.double(),
    moving: cursor.boolean(),
    maxSpeedInKmh: cursor.optionalDouble(),
    route: cursor.present() ? readRoute(cursor) : null,
    ignitionOffSince: cursor.optionalLong(),
  };
}

function readRoute(cursor: AvroCursor): RouteProgress {
  return {
    wayTime: cursor.long(),
    wayLatitude: cursor.double(),
    wayLongitude: cursor.double(),
    distanceInMeters: cursor.double(),
    idleMs: cursor.long(),
    standing: cursor.boolean(),
    ignitionOffSince: cursor.optionalLong(),
    wayWithoutSpeed: cursor.boolean(),
  };
}

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
  to.boolean(route.wayWithoutSpeed);
}
