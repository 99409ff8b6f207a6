import { distanceInMeters, isWithinMeters } from '../geo/distance.js';
import type { FixedPing } from '../ping/valid-fix.js';
import type { RouteProgress, Trip } from '../records/device-state.js';
import { HOUR_MS } from '../time/units.js';
import { type RouteSettings, speedOf } from './route-settings.js';

export type Driving = Trip & { readonly since: number; readonly route: RouteProgress };

/** The totals of a route up to one more fix. Start and ignition stay as they are. */
export interface RouteLeg {
  readonly type: 'traveled';
  readonly distanceInMeters: number;
  readonly maxSpeedInKmh: number | null;
  readonly idleMs: number;
  readonly standing: boolean;
  readonly wayWithoutSpeed: boolean;
}

export function startRoute(
  start: { readonly time: number; readonly latitude: number; readonly longitude: number },
  speedInKmh: number | null,
  ignitionOffSince: number | null,
): Driving {
  const { time, latitude, longitude } = start;
  return driving({ since: time, latitude, longitude }, speedInKmh, {
    wayTime: time,
    wayLatitude: latitude,
    wayLongitude: longitude,
    distanceInMeters: 0,
    idleMs: 0,
    standing: false,
    ignitionOffSince,
    wayWithoutSpeed: speedInKmh === null,
  });
}

/** At a stop, a fix is moving at 5 km/h or more, or 200 m or more from the stop point. */
export function isMoving({ latitude, longitude }: Trip, fix: FixedPing, settings: RouteSettings): boolean {
  const speed = speedOf(fix, settings);
  if (speed !== null && speed >= settings.movingSpeedInKmh) return true;
  return !isWithinMeters(settings.movingDistanceInMeters, latitude, longitude, fix.latitude, fix.longitude);
}

/**
 * On a route, without a speed now or at the start of standing, still means within 200 m. Over 300 s that is
 * slower than 3 km/h, and no jitter of a parked device leaves it.
 */
export function isStill({ route }: Driving, fix: FixedPing, settings: RouteSettings): boolean {
  const speed = speedOf(fix, settings);
  if (!isSlow(speed, settings)) return false;
  if (!route.standing || (speed !== null && !route.wayWithoutSpeed)) return true;
  const { movingDistanceInMeters } = settings;
  return isWithinMeters(movingDistanceInMeters, route.wayLatitude, route.wayLongitude, fix.latitude, fix.longitude);
}

function isSlow(speed: number | null, { stillSpeedInKmh }: RouteSettings): boolean {
  return speed === null || speed < stillSpeedInKmh;
}

/** Standing adds no leg, so drift adds nothing: the next leg starts where the vehicle stood. */
export function legTo(
  { route, maxSpeedInKmh }: Driving,
  fix: FixedPing,
  lastFixTime: number,
  settings: RouteSettings,
): RouteLeg {
  const speed = speedOf(fix, settings);
  // Without a speed, the vehicle may have driven slowly instead of standing.
  const stoodMs = route.standing && speed !== null ? lastFixTime - route.wayTime : 0;
  return {
    type: 'traveled',
    distanceInMeters: route.distanceInMeters + legInMeters(route, fix, settings),
    maxSpeedInKmh: greater(maxSpeedInKmh, speed),
    idleMs: route.idleMs + stoodMs,
    standing: isSlow(speed, settings),
    wayWithoutSpeed: speed === null,
  };
}

/** Ignores a leg that no vehicle drives in that time: one of the two fixes is wrong. */
function legInMeters(route: RouteProgress, fix: FixedPing, settings: RouteSettings): number {
  const meters = distanceInMeters(route.wayLatitude, route.wayLongitude, fix.latitude, fix.longitude);
  const metersPerMs = (settings.maxSpeedInKmh * 1_000) / HOUR_MS;
  return meters <= metersPerMs * (fix.eventTime - route.wayTime) ? meters : 0;
}

export function withLeg(before: Driving, fix: FixedPing, leg: RouteLeg): Driving {
  return driving(before, leg.maxSpeedInKmh, {
    wayTime: fix.eventTime,
    wayLatitude: fix.latitude,
    wayLongitude: fix.longitude,
    distanceInMeters: leg.distanceInMeters,
    idleMs: leg.idleMs,
    standing: leg.standing,
    ignitionOffSince: before.route.ignitionOffSince,
    wayWithoutSpeed: leg.wayWithoutSpeed,
  });
}

export function withIgnitionOffSince(before: Driving, ignitionOffSince: number | null): Driving {
  return driving(before, before.maxSpeedInKmh, { ...fieldsOf(before.route), ignitionOffSince });
}

/** A moving fix while the ignition is off ends the standing, and adds nothing else to the route. */
export function standingEnded(before: Driving, ignitionOffSince: number): Driving {
  const { wayTime, idleMs } = before.route;
  const stoodMs = ignitionOffSince - wayTime;
  return driving(before, before.maxSpeedInKmh, {
    ...fieldsOf(before.route),
    idleMs: idleMs + stoodMs,
    standing: false,
  });
}

// Field by field: a stored route is a view whose fields a spread would lose.
function fieldsOf(route: RouteProgress): RouteProgress {
  const { wayTime, wayLatitude, wayLongitude, wayWithoutSpeed } = route;
  const { distanceInMeters: meters, idleMs, standing, ignitionOffSince } = route;
  const way = { wayTime, wayLatitude, wayLongitude, wayWithoutSpeed };
  return { ...way, distanceInMeters: meters, idleMs, standing, ignitionOffSince };
}

function driving(
  { since, latitude, longitude }: Pick<Driving, 'since' | 'latitude' | 'longitude'>,
  maxSpeedInKmh: number | null,
  route: RouteProgress,
): Driving {
  return { since, latitude, longitude, moving: false, maxSpeedInKmh, route, ignitionOffSince: null };
}

function greater(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.max(left, right);
}
