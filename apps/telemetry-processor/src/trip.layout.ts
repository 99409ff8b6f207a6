import type { RouteProgress, Trip } from '@waypost/domain';

const FLAGS = 0;
const SINCE = 1;
const LATITUDE = 9;
const LONGITUDE = 17;
const MAX_SPEED = 25;
const WAY_TIME = 33;
const WAY_LATITUDE = 41;
const WAY_LONGITUDE = 49;
const DISTANCE = 57;
const IDLE = 65;
/** Of the route; at a stop, of the one that may begin. Before there was that, the flag was never set at a stop. */
const IGNITION_OFF_SINCE = 73;

/** A set bit: the value is there. */
const HAS_TRIP = 1;
const HAS_SINCE = 2;
const MOVING = 4;
const HAS_MAX_SPEED = 8;
const HAS_ROUTE = 16;
const STANDING = 32;
const HAS_IGNITION_OFF_SINCE = 64;

/** The trip within the state of a device; 81 bytes, of which those that mean nothing keep what was there. */
export const tripLayout = {
  byteLength: 81,
  read: (view: DataView, at: number): Trip | null => {
    const flags = view.getUint8(at + FLAGS);
    if ((flags & HAS_TRIP) === 0) return null;
    return {
      since: (flags & HAS_SINCE) === 0 ? null : view.getFloat64(at + SINCE),
      latitude: view.getFloat64(at + LATITUDE),
      longitude: view.getFloat64(at + LONGITUDE),
      moving: (flags & MOVING) !== 0,
      maxSpeedInKmh: (flags & HAS_MAX_SPEED) === 0 ? null : view.getFloat64(at + MAX_SPEED),
      route: (flags & HAS_ROUTE) === 0 ? null : readRoute(view, at, flags),
      ignitionOffSince: (flags & HAS_ROUTE) === 0 ? readIgnitionOffSince(view, at, flags) : null,
    };
  },
  write: (view: DataView, at: number, trip: Trip | null): void => {
    if (trip === null) {
      view.setUint8(at + FLAGS, 0);
      return;
    }
    const { since, latitude, longitude, moving, maxSpeedInKmh, route, ignitionOffSince } = trip;
    view.setFloat64(at + SINCE, since ?? 0);
    view.setFloat64(at + LATITUDE, latitude);
    view.setFloat64(at + LONGITUDE, longitude);
    view.setFloat64(at + MAX_SPEED, maxSpeedInKmh ?? 0);
    const flags =
      HAS_TRIP |
      (since === null ? 0 : HAS_SINCE) |
      (moving ? MOVING : 0) |
      (maxSpeedInKmh === null ? 0 : HAS_MAX_SPEED);
    const more = route === null ? writeIgnitionOffSince(view, at, ignitionOffSince) : writeRoute(view, at, route);
    view.setUint8(at + FLAGS, flags | more);
  },
};

const readRoute = (view: DataView, at: number, flags: number): RouteProgress => ({
  wayTime: view.getFloat64(at + WAY_TIME),
  wayLatitude: view.getFloat64(at + WAY_LATITUDE),
  wayLongitude: view.getFloat64(at + WAY_LONGITUDE),
  distanceInMeters: view.getFloat64(at + DISTANCE),
  idleMs: view.getFloat64(at + IDLE),
  standing: (flags & STANDING) !== 0,
  ignitionOffSince: readIgnitionOffSince(view, at, flags),
});

const readIgnitionOffSince = (view: DataView, at: number, flags: number): number | null =>
  (flags & HAS_IGNITION_OFF_SINCE) === 0 ? null : view.getFloat64(at + IGNITION_OFF_SINCE);

/** Returns the flags of the route. */
const writeRoute = (view: DataView, at: number, route: RouteProgress): number => {
  view.setFloat64(at + WAY_TIME, route.wayTime);
  view.setFloat64(at + WAY_LATITUDE, route.wayLatitude);
  view.setFloat64(at + WAY_LONGITUDE, route.wayLongitude);
  view.setFloat64(at + DISTANCE, route.distanceInMeters);
  view.setFloat64(at + IDLE, route.idleMs);
  return HAS_ROUTE | (route.standing ? STANDING : 0) | writeIgnitionOffSince(view, at, route.ignitionOffSince);
};

/** Returns its flag. */
const writeIgnitionOffSince = (view: DataView, at: number, ignitionOffSince: number | null): number => {
  if (ignitionOffSince === null) return 0;
  view.setFloat64(at + IGNITION_OFF_SINCE, ignitionOffSince);
  return HAS_IGNITION_OFF_SINCE;
};
