import { distanceInMeters, isWithinMeters } from '../geo/distance.js';
import { speedOf, type Fix } from './fix-of-ping.js';
import type { RouteSettings } from './route-settings.js';
import type { RouteProgress, Trip } from '../telemetry/device-state.js';

const MS_PER_HOUR = 3_600_000;

/** A trip that is on the way. */
export type Driving = Trip & { readonly since: number; readonly route: RouteProgress };

/**
 * A route at its first moving ping, before any other fix.
 *
 * @param speedInKmh of that ping; null: not reported
 * @param ignitionOffSince null: the ignition did not go off since
 */
export function routeFrom(
  start: { readonly time: number; readonly latitude: number; readonly longitude: number },
  speedInKmh: number | null,
  ignitionOffSince: number | null,
): Driving {
  return {
    since: start.time,
    latitude: start.latitude,
    longitude: start.longitude,
    moving: false,
    maxSpeedInKmh: speedInKmh,
    route: {
      wayTime: start.time,
      wayLatitude: start.latitude,
      wayLongitude: start.longitude,
      distanceInMeters: 0,
      idleMs: 0,
      standing: false,
      ignitionOffSince,
    },
    ignitionOffSince: null,
  };
}

/**
 * Still is what is slower than 3 km/h. Without a speed it is what stays within the 200 m of a stop point from where the
 * standing began: over 300 s that is slower than 3 km/h as well, and no jitter of a parked device leaves it.
 */
export function isStill({ route }: Driving, fix: Fix, settings: RouteSettings): boolean {
  const speed = speedOf(fix, settings);
  if (speed !== null) return speed < settings.stillSpeedInKmh;
  if (!route.standing) return true;
  const { movingDistanceInMeters } = settings;
  return isWithinMeters(movingDistanceInMeters, route.wayLatitude, route.wayLongitude, fix.latitude, fix.longitude);
}

/**
 * The route with one more fix. While the vehicle stands nothing is measured, so drift adds nothing; the way goes on from
 * where it stood to the first fix that is not still.
 *
 * @param lastFixTime of the valid ping before
 */
export function travelTo(
  driving: Driving,
  fix: Fix,
  still: boolean,
  lastFixTime: number,
  settings: RouteSettings,
): Driving {
  const { route } = driving;
  if (still && route.standing) return driving;
  const speed = speedOf(fix, settings);
  // Standing that ends at a ping without a speed may have been driving slowly.
  const stoodMs = route.standing && speed !== null ? lastFixTime - route.wayTime : 0;
  // Field by field: this is done for every ping on the road, and spreads cost more.
  return {
    since: driving.since,
    latitude: driving.latitude,
    longitude: driving.longitude,
    moving: false,
    maxSpeedInKmh: greater(driving.maxSpeedInKmh, speed),
    route: {
      wayTime: fix.eventTime,
      wayLatitude: fix.latitude,
      wayLongitude: fix.longitude,
      distanceInMeters:
        route.distanceInMeters + legTo(route.wayTime, route.wayLatitude, route.wayLongitude, fix, settings),
      idleMs: route.idleMs + stoodMs,
      standing: still || speed === null,
      ignitionOffSince: route.ignitionOffSince,
    },
    ignitionOffSince: null,
  };
}

/** The route with another time of the ignition. */
export function routeAs(driving: Driving, ignitionOffSince: number | null): Driving {
  const { route } = driving;
  return {
    since: driving.since,
    latitude: driving.latitude,
    longitude: driving.longitude,
    moving: false,
    maxSpeedInKmh: driving.maxSpeedInKmh,
    route: {
      wayTime: route.wayTime,
      wayLatitude: route.wayLatitude,
      wayLongitude: route.wayLongitude,
      distanceInMeters: route.distanceInMeters,
      idleMs: route.idleMs,
      standing: route.standing,
      ignitionOffSince,
    },
    ignitionOffSince: null,
  };
}

/** Metres from a fix to the next; 0 for a way that no vehicle drives in that time, which is an error of one of the two. */
export function legTo(
  wayTime: number,
  wayLatitude: number,
  wayLongitude: number,
  fix: Fix,
  settings: RouteSettings,
): number {
  const meters = distanceInMeters(wayLatitude, wayLongitude, fix.latitude, fix.longitude);
  const metersPerMs = (settings.maxSpeedInKmh * 1_000) / MS_PER_HOUR;
  return meters <= metersPerMs * (fix.eventTime - wayTime) ? meters : 0;
}

function greater(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.max(left, right);
}
