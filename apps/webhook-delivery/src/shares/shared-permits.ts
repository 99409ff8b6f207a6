import type { RequestOwner } from '@waypost/egress';
import { Fifo } from '../collections/fifo.js';
import { type ReservationLimits, Reservations } from './reservations.js';
import { ShareQueue, type ShareQueueOptions, type SharingFleet, type SharingLane } from './share-queue.js';

export interface SharedPermitsOptions extends ShareQueueOptions {
  readonly limits: ReservationLimits;
}

/**
 * Permits for something short that attempts wait for, shared as reservations are: by fleet first, then by subscription, and
 * at each origin. What has no room waits for its turn.
 */
export class SharedPermits {
  private readonly taken: Reservations;
  private readonly queue: ShareQueue;
  private readonly fleets = new Map<string, FleetPermits>();
  private readonly subscriptions = new Map<string, Permits>();

  constructor(options: SharedPermitsOptions) {
    this.taken = new Reservations(options.limits);
    this.queue = new ShareQueue(this.taken, options);
  }

  get inUse(): number {
    return this.taken.total;
  }

  /** Runs the work as soon as its fleet, its subscription and the origin have room. */
  async during<T>({ id, fleetId }: RequestOwner, origin: string, work: () => Promise<T>): Promise<T> {
    const request = new PermitRequest(this.taken, origin, this.fleet(fleetId), this.subscription(id));
    if (!request.checkShare()) {
      this.queue.add(request, request.fleet);
      await request.turn();
    }
    try {
      return await work();
    } finally {
      this.leave(request);
    }
  }

  private leave(request: PermitRequest): void {
    request.release();
    this.queue.freed(request);
    if (--request.subscription.requests === 0) this.subscriptions.delete(request.subscription.id);
    if (--request.fleet.requests === 0) this.fleets.delete(request.fleet.id);
  }

  private fleet(id: string): FleetPermits {
    const fleet = this.fleets.get(id) ?? new FleetPermits(id);
    this.fleets.set(id, fleet);
    fleet.requests++;
    return fleet;
  }

  private subscription(id: string): Permits {
    const subscription = this.subscriptions.get(id) ?? new Permits(id);
    this.subscriptions.set(id, subscription);
    subscription.requests++;
    return subscription;
  }
}

/** Of a fleet or a subscription. */
class Permits {
  reserved = 0;
  /** With a permit or without. */
  requests = 0;

  constructor(readonly id: string) {}
}

class FleetPermits extends Permits implements SharingFleet {
  readonly beyondShare: Fifo<SharingLane> = new Fifo();
  offered = 0;
}

class PermitRequest implements SharingLane {
  isInShareQueue = false;
  offeredIn: SharingFleet | null = null;
  turnEndsMs = 0;
  readonly isReady = false;
  isBeyondShare = true;
  private begin = (): void => undefined;

  constructor(
    private readonly taken: Reservations,
    private readonly origin: string,
    readonly fleet: FleetPermits,
    readonly subscription: Permits,
  ) {}

  checkShare(): boolean {
    const { taken, fleet, subscription, origin } = this;
    if (!this.isBeyondShare || !taken.hasRoom(fleet, subscription, origin)) return false;
    taken.reserve(fleet, subscription, origin);
    this.isBeyondShare = false;
    this.begin();
    return true;
  }

  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.begin = resolve;
    });
  }

  release(): void {
    this.taken.release(this.fleet, this.subscription, this.origin);
  }
}
