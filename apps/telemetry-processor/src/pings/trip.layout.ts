import type { FixedPing, MovedPing, RouteProgress, Trip } from '@waypost/domain';

/** Offsets: first the fields read at a stop, then those read on a route. */
const FLAGS = 0;
const LATITUDE = 1;
const LONGITUDE = 9;
const SINCE = 17;
const MAX_SPEED = 25;
const DISTANCE = 33;
const WAY_TIME = 41;
const WAY_LATITUDE = 49;
const WAY_LONGITUDE = 57;
const IDLE = 65;
/** A field of the route; at a stop, of the route that may start. */
const IGNITION_OFF_SINCE = 73;
export const TRIP_BYTES = 81;

/** A set bit means that the value is present. */
const HAS_TRIP = 1;
const HAS_SINCE = 2;
const MOVING = 4;
const HAS_MAX_SPEED = 8;
const HAS_ROUTE = 16;
const STANDING = 32;
const HAS_IGNITION_OFF_SINCE = 64;
const WAY_WITHOUT_SPEED = 128;

/**
 * A view of a trip in the store, which reads each field on access: objects and numbers for all of them would cost more
 * than the rules. Valid until the next change of the store.
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

  isAt(view: DataView, at: number): boolean {
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

  get wayWithoutSpeed(): boolean {
    return (this.flags & WAY_WITHOUT_SPEED) !== 0;
  }

  get ignitionOffSince(): number | null {
    return readIgnitionOffSince(this.view, this.at, this.flags);
  }
}

export function readTrip(view: DataView, at: number): Trip | null {
  return (view.getUint8(at + FLAGS) & HAS_TRIP) === 0 ? null : new StoredTrip(view, at);
}

/** The bytes of absent fields keep their old content. */
export function writeTrip(view: DataView, at: number, trip: Trip | null): void {
  if (trip === null) {
    view.setUint8(at + FLAGS, 0);
    return;
  }
  const isUnchanged = trip instanceof StoredTrip && trip.isAt(view, at);
  if (isUnchanged) return;
  const { since, latitude, longitude, moving, maxSpeedInKmh, route, ignitionOffSince } = trip;
  view.setFloat64(at + SINCE, since ?? 0);
  view.setFloat64(at + LATITUDE, latitude);
  view.setFloat64(at + LONGITUDE, longitude);
  view.setFloat64(at + MAX_SPEED, maxSpeedInKmh ?? 0);
  const flags =
    HAS_TRIP | (since === null ? 0 : HAS_SINCE) | (moving ? MOVING : 0) | (maxSpeedInKmh === null ? 0 : HAS_MAX_SPEED);
  const more = route === null ? writeIgnitionOffSince(view, at, ignitionOffSince) : writeRoute(view, at, route);
  view.setUint8(at + FLAGS, flags | more);
}

/** Changes a stored trip that is on a route. */
export function writeLeg(view: DataView, at: number, fix: FixedPing, leg: NonNullable<MovedPing['leg']>): void {
  view.setFloat64(at + WAY_TIME, fix.eventTime);
  view.setFloat64(at + WAY_LATITUDE, fix.latitude);
  view.setFloat64(at + WAY_LONGITUDE, fix.longitude);
  view.setFloat64(at + DISTANCE, leg.distanceInMeters);
  view.setFloat64(at + IDLE, leg.idleMs);
  view.setFloat64(at + MAX_SPEED, leg.maxSpeedInKmh ?? 0);
  const flags = view.getUint8(at + FLAGS) & ~(HAS_MAX_SPEED | STANDING | WAY_WITHOUT_SPEED);
  const hasMaxSpeed = leg.maxSpeedInKmh === null ? 0 : HAS_MAX_SPEED;
  view.setUint8(at + FLAGS, flags | hasMaxSpeed | flagsOfWay(leg));
}

function readIgnitionOffSince(view: DataView, at: number, flags: number): number | null {
  return (flags & HAS_IGNITION_OFF_SINCE) === 0 ? null : view.getFloat64(at + IGNITION_OFF_SINCE);
}

/** Writes the route and returns its flags. */
function writeRoute(view: DataView, at: number, route: RouteProgress): number {
  view.setFloat64(at + WAY_TIME, route.wayTime);
  view.setFloat64(at + WAY_LATITUDE, route.wayLatitude);
  view.setFloat64(at + WAY_LONGITUDE, route.wayLongitude);
  view.setFloat64(at + DISTANCE, route.distanceInMeters);
  view.setFloat64(at + IDLE, route.idleMs);
  return HAS_ROUTE | flagsOfWay(route) | writeIgnitionOffSince(view, at, route.ignitionOffSince);
}

function flagsOfWay({ standing, wayWithoutSpeed }: Pick<RouteProgress, 'standing' | 'wayWithoutSpeed'>): number {
  return (standing ? STANDING : 0) | (wayWithoutSpeed ? WAY_WITHOUT_SPEED : 0);
}

/** Writes the time and returns its flag. */
function writeIgnitionOffSince(view: DataView, at: number, ignitionOffSince: number | null): number {
  if (ignitionOffSince === null) return 0;
  view.setFloat64(at + IGNITION_OFF_SINCE, ignitionOffSince);
  return HAS_IGNITION_OFF_SINCE;
}
