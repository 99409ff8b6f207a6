import { isMovingFrom, legTo, speedOf, type FixedPing, type RouteSettings } from '@waypost/domain';
import {
  DISTANCE,
  FLAGS,
  HAS_IGNITION_OFF_SINCE,
  HAS_MAX_SPEED,
  HAS_ROUTE,
  HAS_SINCE,
  HAS_TRIP,
  IDLE,
  LATITUDE,
  LONGITUDE,
  MAX_SPEED,
  MOVING,
  STANDING,
  WAY_LATITUDE,
  WAY_LONGITUDE,
  WAY_TIME,
} from './trip-bytes.js';

/** The fix may begin or end a route, or says something that is not seen at a glance. */
export const NOT_QUIET = -2;
/** The fix changes nothing of the trip. */
export const NO_LEG = -1;

/**
 * What a valid fix does to a trip as it is stored, when the ignition stays as it is: the metres of one more leg, NO_LEG or
 * NOT_QUIET. No more than decideTrip() says, without an object for any of it.
 *
 * @param lastFixTime of the valid ping before, epoch milliseconds
 */
export const quietLegOf = (
  view: DataView,
  trip: number,
  fix: FixedPing,
  lastFixTime: number,
  settings: RouteSettings,
): number => {
  const flags = view.getUint8(trip + FLAGS);
  if ((flags & (HAS_TRIP | MOVING | HAS_IGNITION_OFF_SINCE)) !== HAS_TRIP) return NOT_QUIET;
  if ((flags & HAS_ROUTE) === 0) {
    const latitude = view.getFloat64(trip + LATITUDE);
    return isMovingFrom(latitude, view.getFloat64(trip + LONGITUDE), fix, settings) ? NOT_QUIET : NO_LEG;
  }
  const speed = speedOf(fix, settings);
  const apart = fix.eventTime - lastFixTime >= settings.gapMs;
  if (speed === null || apart || (flags & HAS_SINCE) === 0) return NOT_QUIET;
  const wayTime = view.getFloat64(trip + WAY_TIME);
  if (speed < settings.stillSpeedInKmh && (flags & STANDING) !== 0)
    return fix.eventTime - wayTime >= settings.stillMs ? NOT_QUIET : NO_LEG;
  return legTo(wayTime, view.getFloat64(trip + WAY_LATITUDE), view.getFloat64(trip + WAY_LONGITUDE), fix, settings);
};

/**
 * The route with that leg, in place.
 *
 * @param meters as quietLegOf() gives it for this fix
 */
export const addLeg = (
  view: DataView,
  trip: number,
  fix: FixedPing,
  meters: number,
  lastFixTime: number,
  { stillSpeedInKmh }: RouteSettings,
): void => {
  const flags = view.getUint8(trip + FLAGS);
  const speed = fix.speedInKmh ?? 0;
  const fastest = (flags & HAS_MAX_SPEED) === 0 ? speed : Math.max(view.getFloat64(trip + MAX_SPEED), speed);
  view.setFloat64(trip + MAX_SPEED, fastest);
  view.setFloat64(trip + DISTANCE, view.getFloat64(trip + DISTANCE) + meters);
  if ((flags & STANDING) !== 0) {
    const stoodMs = lastFixTime - view.getFloat64(trip + WAY_TIME);
    view.setFloat64(trip + IDLE, view.getFloat64(trip + IDLE) + stoodMs);
  }
  const standing = speed < stillSpeedInKmh ? STANDING : 0;
  view.setUint8(trip + FLAGS, (flags & ~STANDING) | HAS_MAX_SPEED | standing);
  view.setFloat64(trip + WAY_TIME, fix.eventTime);
  view.setFloat64(trip + WAY_LATITUDE, fix.latitude);
  view.setFloat64(trip + WAY_LONGITUDE, fix.longitude);
};
