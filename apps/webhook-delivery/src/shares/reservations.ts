import { parseSubscriberUrl } from '@waypost/egress';
import { freeForFleet } from './fleet-share.js';

/** Limits for deliveries that have begun and are not finished. */
export interface ReservationLimits {
  /** The limit of the process: each delivery may need a socket when its next attempt is due. */
  readonly total: number;
  /** The limit per origin of all subscriptions, at most the connections that the HTTP client opens to it. */
  readonly perOrigin: number;
}

/** What is reserved at one origin, and by whom: many fleets may send to the same receiver. */
interface OriginCount {
  total: number;
  readonly byFleet: Map<ReservationCount, number>;
}

/**
 * Counts the deliveries that have begun and are not finished. A delivery keeps its reservation between attempts, so
 * that each can start when it is due, whatever else is going on. Deliveries without a reservation wait in the
 * log.
 *
 * A share is a fraction of what is *free* in the group above it, never a fixed number (the dynamic thresholds of
 * shared-buffer switches). One dead fleet alone takes a third of the process; forty take 1/42 each. Since every group
 * stops while something is free, the next one finds room at once: by fleet first, then by subscription. At an
 * origin, a fleet may hold as many as are free there, so that a dead path of one fleet leaves room for the same host's
 * other paths.
 */
export class Reservations {
  total = 0;
  private readonly origins = new Map<string, OriginCount>();

  constructor(private readonly limits: ReservationLimits) {}

  /**
   * Whether one more delivery of the subscription may begin. Its first one gets no exception: a fleet with thousands of
   * subscriptions would take everything.
   */
  hasRoom(fleet: ReservationCount, subscription: ReservationCount, origin: string): boolean {
    const atOrigin = this.origins.get(origin);
    const freeAtOrigin = this.limits.perOrigin - (atOrigin?.total ?? 0);
    const freeForFleetThere = freeAtOrigin - (atOrigin?.byFleet.get(fleet) ?? 0);
    return subscription.reserved < Math.min(this.freeFor(fleet), freeForFleetThere);
  }

  /** Whether any delivery of the fleet may begin once `offered` more have begun. */
  fleetHasRoom(fleet: ReservationCount, offered: number): boolean {
    return this.freeFor(fleet, offered) > 0;
  }

  private freeFor(fleet: ReservationCount, offered = 0): number {
    return freeForFleet(this.limits.total, this.total + offered, fleet.reserved + offered);
  }

  /** Reserves unconditionally: a delivery that a predecessor began has the right to its retries. */
  reserve(fleet: ReservationCount, subscription: ReservationCount, origin: string): void {
    this.add(1, fleet, subscription, origin);
  }

  release(fleet: ReservationCount, subscription: ReservationCount, origin: string): void {
    this.add(-1, fleet, subscription, origin);
  }

  private add(count: 1 | -1, fleet: ReservationCount, subscription: ReservationCount, origin: string): void {
    this.total += count;
    fleet.reserved += count;
    subscription.reserved += count;
    const atOrigin = this.origins.get(origin) ?? { total: 0, byFleet: new Map<ReservationCount, number>() };
    this.origins.set(origin, atOrigin);
    atOrigin.total += count;
    const ofFleet = (atOrigin.byFleet.get(fleet) ?? 0) + count;
    if (ofFleet > 0) atOrigin.byFleet.set(fleet, ofFleet);
    else atOrigin.byFleet.delete(fleet);
    if (atOrigin.total === 0) this.origins.delete(origin);
  }
}

/** The reservations of a fleet or a subscription. */
export interface ReservationCount {
  reserved: number;
}

/** The key by which the egress client pools connections; a reservation stands for one. */
export function originOf(url: string): string {
  const parsed = parseSubscriberUrl(url, { allowHttp: true });
  return parsed.type === 'accepted' ? parsed.url.origin : url;
}
