import type { RouteProgress, Trip } from '@waypost/domain';
import {
  DISTANCE,
  FLAGS,
  HAS_IGNITION_OFF_SINCE,
  HAS_MAX_SPEED,
  HAS_ROUTE,
  HAS_SINCE,
  HAS_TRIP,
  IDLE,
  IGNITION_OFF_SINCE,
  LATITUDE,
  LONGITUDE,
  MAX_SPEED,
  MOVING,
  SINCE,
  STANDING,
  TRIP_BYTES,
  WAY_LATITUDE,
  WAY_LONGITUDE,
  WAY_TIME,
} from './trip-bytes.js';

/**
 * A trip as it lies in the store, read when it is looked at: of most pings the rules look at little of it, and making objects
 * and numbers of all of it costs more than the rules. To be let go before the next change of the store.
 */
class StoredTrip implements Trip {
  private readonly flags: number;
  private knownRoute: RouteProgress | null = null;

  constructor(
    private readonly view: DataView,
    private readonly at: number,
  ) {
    this.flags = view.getUint8(at + FLAGS);
  }

  get since(): number | null {
    return (this.flags & HAS_SINCE) === 0 ? null : this.view.getFloat64(this.at + SINCE);
  }

  get latitude(): number {
    return this.view.getFloat64(this.at + LATITUDE);
  }

  get longitude(): number {
    return this.view.getFloat64(this.at + LONGITUDE);
  }

  get moving(): boolean {
    return (this.flags & MOVING) !== 0;
  }

  get maxSpeedInKmh(): number | null {
    return (this.flags & HAS_MAX_SPEED) === 0 ? null : this.view.getFloat64(this.at + MAX_SPEED);
  }

  get route(): RouteProgress | null {
    if ((this.flags & HAS_ROUTE) === 0) return null;
    return (this.knownRoute ??= new StoredRoute(this.view, this.at, this.flags));
  }

  get ignitionOffSince(): number | null {
    return (this.flags & HAS_ROUTE) === 0 ? readIgnitionOffSince(this.view, this.at, this.flags) : null;
  }

  liesAt(view: DataView, at: number): boolean {
    return this.view === view && this.at === at;
  }
}

class StoredRoute implements RouteProgress {
  constructor(
    private readonly view: DataView,
    private readonly at: number,
    private readonly flags: number,
  ) {}

  get wayTime(): number {
    return this.view.getFloat64(this.at + WAY_TIME);
  }

  get wayLatitude(): number {
    return this.view.getFloat64(this.at + WAY_LATITUDE);
  }

  get wayLongitude(): number {
    return this.view.getFloat64(this.at + WAY_LONGITUDE);
  }

  get distanceInMeters(): number {
    return this.view.getFloat64(this.at + DISTANCE);
  }

  get idleMs(): number {
    return this.view.getFloat64(this.at + IDLE);
  }

  get standing(): boolean {
    return (this.flags & STANDING) !== 0;
  }

  get ignitionOffSince(): number | null {
    return readIgnitionOffSince(this.view, this.at, this.flags);
  }
}

/** The trip within the state of a device; 81 bytes, of which those that mean nothing keep what was there. */
export const tripLayout = {
  byteLength: TRIP_BYTES,
  /** A view of the bytes. */
  read: (view: DataView, at: number): Trip | null =>
    (view.getUint8(at + FLAGS) & HAS_TRIP) === 0 ? null : new StoredTrip(view, at),
  write: (view: DataView, at: number, trip: Trip | null): void => {
    if (trip === null) {
      view.setUint8(at + FLAGS, 0);
      return;
    }
    // Nothing has changed.
    if (trip instanceof StoredTrip && trip.liesAt(view, at)) return;
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
