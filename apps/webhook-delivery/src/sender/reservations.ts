/** How many deliveries may be begun and not finished. */
export interface ReservationLimits {
  /** This process: each of them may need a socket at the moment its next attempt is due. */
  readonly total: number;
  /** All subscriptions that lead to one origin; no more than the HTTP client opens connections to it. */
  readonly perOrigin: number;
}

/** A fleet may hold this part of what the process has free; a subscription no more than its fleet, or its origin, has free. */
const FLEET_SHARE_OF_FREE = 0.5;

/**
 * Counts the deliveries that were begun and are not finished. A delivery keeps its reservation between its attempts, so
 * that each of them can start when it is due, whatever else goes on; what gets no reservation waits in the log.
 *
 * A share is a part of what is *free* in the group above it, never a fixed number (the dynamic thresholds of shared-buffer
 * switches). One dead fleet alone takes a third of the process; forty take 1/42 each; and since every group stops while
 * something is free, the next one finds room at once: by fleet first, then by subscription.
 */
export class Reservations {
  total = 0;
  private readonly origins = new Map<string, number>();

  constructor(private readonly limits: ReservationLimits) {}

  /** Whether one more delivery of the subscription may begin. Its first always may, while the process has room. */
  hasRoom(fleet: ReservationCount, subscription: ReservationCount, origin: string): boolean {
    const { total, perOrigin } = this.limits;
    const atOrigin = this.origins.get(origin) ?? 0;
    if (this.total >= total || atOrigin >= perOrigin) return false;
    if (subscription.reserved === 0) return true;
    const fleetFree = (total - this.total) * FLEET_SHARE_OF_FREE - fleet.reserved;
    return subscription.reserved < Math.min(fleetFree, perOrigin - atOrigin);
  }

  /** Unconditionally: a delivery that a predecessor began has the right to its retries. */
  reserve(fleet: ReservationCount, subscription: ReservationCount, origin: string): void {
    this.total++;
    fleet.reserved++;
    subscription.reserved++;
    this.origins.set(origin, (this.origins.get(origin) ?? 0) + 1);
  }

  release(fleet: ReservationCount, subscription: ReservationCount, origin: string): void {
    this.total--;
    fleet.reserved--;
    subscription.reserved--;
    const atOrigin = (this.origins.get(origin) ?? 0) - 1;
    if (atOrigin > 0) this.origins.set(origin, atOrigin);
    else this.origins.delete(origin);
  }
}

/** A fleet or a subscription. */
export interface ReservationCount {
  reserved: number;
}
