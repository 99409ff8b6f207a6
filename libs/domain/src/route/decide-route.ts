import type { FixedPing } from '../ping/valid-fix.js';
import type { DeviceState, Trip } from '../records/device-state.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import type { RouteChange, RouteEndReason } from './event-of-route.js';
import {
  type Driving,
  isMoving,
  isStill,
  legTo,
  type RouteLeg,
  standingEnded,
  startRoute,
  withIgnitionOffSince,
  withLeg,
} from './route-progress.js';
import { type RouteSettings, speedOf } from './route-settings.js';

export type LastKnown = Pick<DeviceState, 'ignition' | 'fixTime' | 'latitude' | 'longitude' | 'trip'>;

export interface ChangedTrip {
  readonly type: 'changed';
  readonly trip: Trip | null;
  /** a stop ends before the route that ends it starts, and starts after the route has ended. */
  readonly changes: readonly RouteChange[];
}

/** `unchanged`: the trip stays as it was. RouteLeg: the route continues, and nothing else changes. */
export type RouteDecision = { readonly type: 'unchanged' } | RouteLeg | ChangedTrip;

const UNCHANGED: RouteDecision = Object.freeze({ type: 'unchanged' });
const NO_CHANGES: readonly RouteChange[] = Object.freeze([]);
export const NO_TRIP: RouteDecision = Object.freeze({ type: 'changed', trip: null, changes: NO_CHANGES });

/** Decides R-9 for one accepted ping. The stop in which a device is first seen has no known start, so it makes no event. */
export function decideRoute(
  before: LastKnown | null,
  ping: TelemetryPing,
  fix: FixedPing | null,
  ignition: boolean | null,
  settings: RouteSettings,
): RouteDecision {
  const trip = before === null ? null : before.trip;
  if (before === null || trip === null || before.fixTime === null) {
    return fix === null ? NO_TRIP : changed(stopAt(fix.latitude, fix.longitude, null, fix, settings));
  }
  const circumstances = { before, ping, fix, ignition, settings };
  if (isDriving(trip)) return onRoute(trip, before.fixTime, circumstances);
  if (fix !== null) return atStop(trip, before.fixTime, fix, circumstances);
  return trip.moving ? atStopWithoutFix(trip, circumstances) : UNCHANGED;
}

export function tripAfter(trip: Trip | null, fix: FixedPing | null, decision: RouteDecision): Trip | null {
  if (decision.type === 'changed') return decision.trip;
  if (decision.type === 'unchanged' || trip === null || fix === null || !isDriving(trip)) return trip;
  return withLeg(trip, fix, decision);
}

interface Circumstances {
  readonly before: LastKnown;
  readonly ping: TelemetryPing;
  readonly fix: FixedPing | null;
  readonly ignition: boolean | null;
  readonly settings: RouteSettings;
}

function changed(trip: Trip, changes: readonly RouteChange[] = NO_CHANGES): ChangedTrip {
  return { type: 'changed', trip, changes };
}

function isDriving(trip: Trip): trip is Driving {
  return trip.route !== null && trip.since !== null;
}

/** After a moving ping, the ignition may go off on a route that only the next fix confirms. */
function atStopWithoutFix(stop: Trip, { before, ping, ignition, settings }: Circumstances): RouteDecision {
  const offSince = stop.ignitionOffSince;
  if (offSince === null) return turnsOff(before, ignition) ? changed(stopWith(stop, ping.eventTime)) : UNCHANGED;
  // Once the ignition was off for ignitionOffMs, that route has ended, whatever happens now.
  if (ignition === false || ping.eventTime - offSince >= settings.ignitionOffMs) return UNCHANGED;
  return changed(stopWith(stop, null));
}

/** A route needs two consecutive moving pings and starts at the first: one wild fix of a parked vehicle starts none. */
function atStop(stop: Trip, lastFixTime: number, fix: FixedPing, circumstances: Circumstances): RouteDecision {
  const { before, settings } = circumstances;
  if (!isMoving(stop, fix, settings)) return stop.moving ? changed(waitingStop(stop)) : UNCHANGED;
  const { latitude, longitude } = before;
  const apart = fix.eventTime - lastFixTime >= settings.gapMs;
  if (!stop.moving || apart || latitude === null || longitude === null) {
    return changed(movingStop(stop, speedOf(fix, settings)));
  }
  const route = startRoute({ time: lastFixTime, latitude, longitude }, stop.maxSpeedInKmh, stop.ignitionOffSince);
  const changes: RouteChange[] = [{ type: 'route_started', time: lastFixTime, latitude, longitude }];
  if (stop.since !== null) {
    changes.unshift({ type: 'stop_finished', time: lastFixTime, latitude, longitude, startTime: stop.since });
  }
  const next = onRoute(route, lastFixTime, circumstances);
  const trip = tripAfter(route, fix, next);
  return { type: 'changed', trip, changes: next.type === 'changed' ? [...changes, ...next.changes] : changes };
}

function onRoute(route: Driving, lastFixTime: number, circumstances: Circumstances): RouteDecision {
  const { ping, fix, ignition, settings } = circumstances;
  const offSince = route.route.ignitionOffSince;
  if (offSince !== null && ping.eventTime - offSince >= settings.ignitionOffMs) {
    return finish(route, 'ignition_off', offSince, circumstances);
  }
  if (ping.eventTime - lastFixTime >= settings.gapMs) return finish(route, 'no_data', lastFixTime, circumstances);
  if (fix === null) return withIgnition(route, UNCHANGED, circumstances);
  const { standing, wayTime } = route.route;
  const still = isStill(route, fix, settings);
  if (still && standing && fix.eventTime - wayTime >= settings.stillMs) {
    return finish(route, 'stationary', wayTime, circumstances);
  }
  // Until then the route is on hold: later pings belong to it only if the ignition comes back.
  if (offSince !== null && ignition === false) {
    return standing && !still ? changed(standingEnded(route, offSince)) : UNCHANGED;
  }
  const leg = still && standing ? UNCHANGED : legTo(route, fix, lastFixTime, settings);
  return withIgnition(route, leg, circumstances);
}

/** Only an ignition turned off on the way ends a route: that of a towed vehicle was off before. */
function withIgnition(route: Driving, leg: RouteDecision, circumstances: Circumstances): RouteDecision {
  const { before, ping, fix, ignition } = circumstances;
  const off = turnsOff(before, ignition);
  const comesBack = ignition !== false && route.route.ignitionOffSince !== null;
  if (!off && !comesBack) return leg;
  const traveled = leg.type === 'traveled' && fix !== null ? withLeg(route, fix, leg) : route;
  return changed(withIgnitionOffSince(traveled, off ? ping.eventTime : null));
}

function turnsOff(before: LastKnown, ignition: boolean | null): boolean {
  return ignition === false && before.ignition !== false;
}

function finish(
  driving: Driving,
  endReason: RouteEndReason,
  time: number,
  { fix, settings }: Circumstances,
): RouteDecision {
  const { since, route, maxSpeedInKmh } = driving;
  const { wayLatitude: latitude, wayLongitude: longitude, wayTime: fixTime } = route;
  const stoodMs = route.standing ? time - fixTime : 0;
  const finished: RouteChange = {
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
  const changes: RouteChange[] = [finished, { type: 'stop_started', time, latitude, longitude, fixTime }];
  return changed(stopAt(latitude, longitude, time, fix, settings), changes);
}

function stopAt(
  latitude: number,
  longitude: number,
  since: number | null,
  fix: FixedPing | null,
  settings: RouteSettings,
): Trip {
  const stop = waitingStop({ since, latitude, longitude });
  return fix !== null && isMoving(stop, fix, settings) ? movingStop(stop, speedOf(fix, settings)) : stop;
}

type StopPoint = Pick<Trip, 'since' | 'latitude' | 'longitude'>;

// Field by field: a stored trip is a view whose fields a spread would lose.
function waitingStop({ since, latitude, longitude }: StopPoint): Trip {
  return { since, latitude, longitude, moving: false, maxSpeedInKmh: null, route: null, ignitionOffSince: null };
}

function movingStop({ since, latitude, longitude }: StopPoint, maxSpeedInKmh: number | null): Trip {
  return { since, latitude, longitude, moving: true, maxSpeedInKmh, route: null, ignitionOffSince: null };
}

function stopWith({ since, latitude, longitude, moving, maxSpeedInKmh }: Trip, ignitionOffSince: number | null): Trip {
  return { since, latitude, longitude, moving, maxSpeedInKmh, route: null, ignitionOffSince };
}
