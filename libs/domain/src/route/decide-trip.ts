import { isWithinMeters } from '../geo/distance.js';
import { hasValidFix } from '../telemetry/fix.js';
import type { TelemetryPing } from '../telemetry/telemetry-ping.js';
import { speedOf, type Fix } from './fix-of-ping.js';
import { isStill, routeAs, routeFrom, travelTo, type Driving } from './route-progress.js';
import type { RouteSettings } from './route-settings.js';
import type { RouteEndReason, TripChange } from './trip-change.js';
import type { Trip } from '../telemetry/device-state.js';

/** What was known of the device before the ping; a device's state is one. */
export interface LastKnown {
  readonly ignition: boolean | null;
  /** Of the newest valid fix, which is at latitude and longitude. */
  readonly fixTime: number | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** null: no valid fix was taken yet. */
  readonly trip: Trip | null;
}

export interface TripDecision {
  readonly trip: Trip | null;
  /** In the order of R-10: a stop ends before the route that ends it begins, and begins after the route has ended. */
  readonly changes: readonly TripChange[];
}

const NO_CHANGES: readonly TripChange[] = Object.freeze([]);
/** No valid fix yet, or no routes at all. */
export const NO_TRIP: TripDecision = Object.freeze({ trip: null, changes: NO_CHANGES });

/**
 * The rules of routes and stops on one accepted ping. A device is at a stop or on a route; the stop in which it is
 * first seen has no known beginning, so it makes no event.
 *
 * @param before null: the first ping of the device
 * @param ignition the state after the ping
 */
export function decideTrip(
  before: LastKnown | null,
  ping: TelemetryPing,
  ignition: boolean | null,
  settings: RouteSettings,
): TripDecision {
  // An invalid one is neither moving nor still.
  const fix = hasValidFix(ping) ? ping : null;
  const trip = before === null ? null : before.trip;
  // Only a first fix makes a trip, so one is known wherever there is a trip.
  if (before === null || trip === null || before.fixTime === null) {
    return fix === null
      ? NO_TRIP
      : { trip: stopWith(fix.latitude, fix.longitude, null, settings, fix), changes: NO_CHANGES };
  }
  const circumstances = { before, ping, fix, ignition, settings };
  if (isDriving(trip)) return onRoute(trip, before.fixTime, circumstances);
  if (fix === null) return { trip: trip.moving ? unseen(trip, circumstances) : trip, changes: NO_CHANGES };
  return atStop(trip, before.fixTime, fix, circumstances);
}

function isDriving(trip: Trip): trip is Driving {
  return trip.route !== null && trip.since !== null;
}

interface Circumstances {
  readonly before: LastKnown;
  readonly ping: TelemetryPing;
  readonly fix: Fix | null;
  readonly ignition: boolean | null;
  readonly settings: RouteSettings;
}

/** A ping without a fix behind a moving one: the ignition may go off on a route of which nobody knows yet. */
function unseen(stop: Trip, { before, ping, ignition, settings }: Circumstances): Trip {
  const offSince = stop.ignitionOffSince;
  if (offSince === null) {
    return goesOff(before, ignition) ? stopAs(stop, stop.moving, stop.maxSpeedInKmh, ping.eventTime) : stop;
  }
  // Off for so long it has ended that route, whatever it does now.
  if (ignition === false || ping.eventTime - offSince >= settings.ignitionOffMs) return stop;
  return stopAs(stop, stop.moving, stop.maxSpeedInKmh, null);
}

/** Two consecutive moving pings begin a route, at the first of them: one wild fix of a parked vehicle does not. */
function atStop(stop: Trip, lastFixTime: number, fix: Fix, circumstances: Circumstances): TripDecision {
  const { before, settings } = circumstances;
  if (!isMoving(stop, fix, settings)) {
    if (!stop.moving) return { trip: stop, changes: NO_CHANGES };
    return { trip: stopAs(stop, false, null, null), changes: NO_CHANGES };
  }
  const { latitude, longitude } = before;
  const apart = fix.eventTime - lastFixTime >= settings.gapMs;
  if (!stop.moving || apart || latitude === null || longitude === null) {
    return { trip: stopAs(stop, true, speedOf(fix, settings), null), changes: NO_CHANGES };
  }
  const start = { time: lastFixTime, latitude, longitude };
  const begun = routeFrom(start, stop.maxSpeedInKmh, stop.ignitionOffSince);
  const { trip, changes } = onRoute(begun, lastFixTime, circumstances);
  const started: TripChange[] = [{ type: 'route_started', time: lastFixTime, latitude, longitude }];
  if (stop.since !== null) {
    started.unshift({ type: 'stop_finished', time: lastFixTime, latitude, longitude, startTime: stop.since });
  }
  return { trip, changes: changes.length === 0 ? started : [...started, ...changes] };
}

function onRoute(driving: Driving, lastFixTime: number, circumstances: Circumstances): TripDecision {
  const { ping, fix, ignition, settings } = circumstances;
  const offSince = driving.route.ignitionOffSince;
  if (offSince !== null && ping.eventTime - offSince >= settings.ignitionOffMs) {
    return finish(driving, 'ignition_off', offSince, circumstances);
  }
  // Until that is decided the route rests: whatever comes meanwhile belongs to it only if the ignition comes back.
  if (offSince !== null && ignition === false) return { trip: driving, changes: NO_CHANGES };
  if (ping.eventTime - lastFixTime >= settings.gapMs) return finish(driving, 'no_data', lastFixTime, circumstances);
  if (fix === null) return { trip: withIgnition(driving, ping.eventTime, circumstances), changes: NO_CHANGES };
  const { standing, wayTime } = driving.route;
  const still = isStill(driving, fix, settings);
  if (still && standing && fix.eventTime - wayTime >= settings.stillMs) {
    return finish(driving, 'stationary', wayTime, circumstances);
  }
  const travelled = travelTo(driving, fix, still, lastFixTime, settings);
  return { trip: withIgnition(travelled, fix.eventTime, circumstances), changes: NO_CHANGES };
}

/** Only an ignition that goes off on the way ends a route: one that was off before, as of a towed vehicle, does not. */
function withIgnition(driving: Driving, time: number, { before, ignition }: Circumstances): Driving {
  const off = goesOff(before, ignition);
  const comesBack = ignition !== false && driving.route.ignitionOffSince !== null;
  if (!off && !comesBack) return driving;
  return routeAs(driving, off ? time : null);
}

function goesOff(before: LastKnown, ignition: boolean | null): boolean {
  return ignition === false && before.ignition !== false;
}

function finish(
  driving: Driving,
  endReason: RouteEndReason,
  time: number,
  { fix, settings }: Circumstances,
): TripDecision {
  const { since, route, maxSpeedInKmh } = driving;
  const { wayLatitude: latitude, wayLongitude: longitude, wayTime: fixTime } = route;
  const stoodMs = route.standing ? time - fixTime : 0;
  const finished: TripChange = {
    type: 'route_finished',
    time,
    latitude,
    longitude,
    fixTime,
    startTime: since,
    startLocation: { latitude: driving.latitude, longitude: driving.longitude },
    distanceInMeters: route.distanceInMeters,
    maxSpeedInKmh,
    idleMs: maxSpeedInKmh === null ? null : route.idleMs + stoodMs,
    endReason,
  };
  const changes: TripChange[] = [finished, { type: 'stop_started', time, latitude, longitude, fixTime }];
  return { trip: stopWith(route.wayLatitude, route.wayLongitude, time, settings, fix), changes };
}

/** A stop at its stop point; `fix` is the first that is known in it, if there is one. */
function stopWith(
  latitude: number,
  longitude: number,
  since: number | null,
  settings: RouteSettings,
  fix: Fix | null,
): Trip {
  const stop: Trip = {
    since,
    latitude,
    longitude,
    moving: false,
    maxSpeedInKmh: null,
    route: null,
    ignitionOffSince: null,
  };
  if (fix === null || !isMoving(stop, fix, settings)) return stop;
  return stopAs(stop, true, speedOf(fix, settings), null);
}

/** Field by field, also because a trip may be a view that has its fields from elsewhere: to spread it would lose them. */
function stopAs(
  { since, latitude, longitude }: Trip,
  moving: boolean,
  maxSpeedInKmh: number | null,
  ignitionOffSince: number | null,
): Trip {
  return { since, latitude, longitude, moving, maxSpeedInKmh, route: null, ignitionOffSince };
}

function isMoving({ latitude, longitude }: Trip, fix: Fix, settings: RouteSettings): boolean {
  return isMovingFrom(latitude, longitude, fix, settings);
}

/** Whether a fix is a moving one at a stop with that stop point. */
export function isMovingFrom(latitude: number, longitude: number, fix: Fix, settings: RouteSettings): boolean {
  const speed = speedOf(fix, settings);
  if (speed !== null && speed >= settings.movingSpeedInKmh) return true;
  return !isWithinMeters(settings.movingDistanceInMeters, latitude, longitude, fix.latitude, fix.longitude);
}
