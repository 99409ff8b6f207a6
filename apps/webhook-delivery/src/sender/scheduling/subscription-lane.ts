import { Fifo } from '../../collections/fifo.js';
import type { Headroom } from '../../process/headroom.js';
import type { TimerPort } from '../../process/timers.js';
import type { ReservationCount, Reservations } from '../../shares/reservations.js';
import type { ShareQueue, SharingFleet, SharingLane } from '../../shares/share-queue.js';
import type { BusyAttempt, BusyAttempts } from './busy-attempts.js';
import type { BegunDelivery, Lane, QueuedDelivery } from './lane.js';
import { LanePace } from './lane-pace.js';
import type { LaneSettings } from './lane-settings.js';

/** The slots and reservations of the process, which its lanes share. */
export interface LaneScheduler {
  readonly options: {
    readonly slots: { readonly perSubscription: number };
    readonly settings: (subscriptionId: string) => LaneSettings;
    readonly timers: TimerPort;
    readonly monotonicMs: () => number;
    readonly headroom: Pick<Headroom, 'retryStarted'>;
  };
  readonly reservations: Reservations;
  readonly busy: BusyAttempts;
  fleet(fleetId: string): FleetLanes;
  forget(lane: SubscriptionLane, fleet: FleetLanes): void;
  makeReady(lane: SubscriptionLane, fleet: FleetLanes): void;
  readonly shares: ShareQueue;
  takeSlot(fleet: FleetLanes): void;
  releaseSlot(fleet: FleetLanes): void;
  pump(): void;
}

export class FleetLanes implements SharingFleet {
  reserved = 0;
  slots = 0;
  isListed = false;
  readonly ready: Fifo<SubscriptionLane> = new Fifo();
  readonly beyondShare: Fifo<SharingLane> = new Fifo();
  offered = 0;

  constructor(readonly fleetId: string) {}
}

/**
 * ready: in its fleet's queue. beyond_share: it waits for a reservation. timed: a timer makes it ready. idle: nothing
 * waits, or its slots are full.
 */
type LaneState = 'idle' | 'ready' | 'beyond_share' | 'timed';

export class SubscriptionLane implements Lane, SharingLane, ReservationCount {
  reserved = 0;
  isInShareQueue = false;
  offeredIn: SharingFleet | null = null;
  turnEndsMs = 0;
  private slots = 0;
  private readonly waiting: Fifo<QueuedDelivery> = new Fifo();
  private state: LaneState = 'idle';
  private readonly pace = new LanePace();
  private isForgottenLater = false;
  private cancelTimer = (): void => undefined;

  constructor(
    private readonly scheduler: LaneScheduler,
    readonly subscriptionId: string,
  ) {}

  enqueue(delivery: QueuedDelivery): void {
    this.waiting.push(delivery);
    this.place();
  }

  resume(): BegunDelivery {
    return this.reserve();
  }

  beginNoneBefore(endMs: number): void {
    this.pace.beginNoneBefore(endMs);
    this.forgetIfDone(this.where().fleet);
  }

  drain(): QueuedDelivery[] {
    const drained: QueuedDelivery[] = [];
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) drained.push(next);
    this.stopTimer();
    this.forgetIfDone(this.where().fleet);
    return drained;
  }

  /** Call when the subscription has changed: a wait for its earlier rate may be over or shorter. */
  settingsChanged(): void {
    this.stopTimer();
    this.place();
  }

  /**
   * Called when the lane is first in the queue of its fleet, which has a slot free.
   * @returns whether a delivery has begun
   */
  beginNext(): boolean {
    this.state = 'idle';
    const begun = this.tryReserve();
    this.scheduler.shares.settled(this);
    if (!begun) {
      this.forgetIfDone(this.where().fleet);
      return false;
    }
    const delivery = this.waiting.shift();
    begun.takeSlot();
    this.place();
    delivery?.begin(begun);
    return true;
  }

  private tryReserve(): Reservation | null {
    while (this.waiting.peek()?.isVoid === true) this.waiting.shift();
    const next = this.waiting.peek();
    if (next === undefined || this.isFull) return null;
    const { fleet, origin } = this.where();
    if (!next.mayBegin() || !this.scheduler.reservations.hasRoom(fleet, this, origin)) {
      this.state = 'beyond_share';
      this.scheduler.shares.add(this, fleet);
      return null;
    }
    // Must be the last check: it uses up one start of the rate.
    if (!next.isPaced) this.countRetry();
    else if (this.isEarly()) return null;
    return this.reserve();
  }

  get isReady(): boolean {
    return this.state === 'ready';
  }

  get isBeyondShare(): boolean {
    return this.state === 'beyond_share';
  }

  checkShare(): boolean {
    if (!this.isBeyondShare) return false;
    const { fleet, origin } = this.where();
    if (!this.scheduler.reservations.hasRoom(fleet, this, origin)) return false;
    this.state = 'idle';
    const { reserved } = this;
    this.place();
    this.forgetIfDone(fleet);
    return this.isReady || this.reserved > reserved;
  }

  takeSlot(fleet: FleetLanes): void {
    this.slots++;
    this.scheduler.takeSlot(fleet);
  }

  releaseSlot(fleet: FleetLanes): void {
    this.slots--;
    this.scheduler.releaseSlot(fleet);
    this.place();
    this.scheduler.pump();
  }

  countRetry(): void {
    this.pace.countRetry(this.settings(), this.scheduler.options.monotonicMs());
  }

  ended(fleet: FleetLanes): void {
    this.scheduler.shares.freed(this);
    this.forgetIfDone(fleet);
  }

  private reserve(): Reservation {
    const { fleet, origin } = this.where();
    return new Reservation(this.scheduler, this, fleet, origin);
  }

  private where() {
    const { fleetId, origin } = this.settings();
    return { fleet: this.scheduler.fleet(fleetId), origin };
  }

  private settings(): LaneSettings {
    return this.scheduler.options.settings(this.subscriptionId);
  }

  get isTimed(): boolean {
    return this.state === 'timed';
  }

  private get isFull(): boolean {
    return this.slots >= this.scheduler.options.slots.perSubscription;
  }

  private place(): void {
    if (this.state !== 'idle' || this.waiting.length === 0 || this.isFull) return;
    this.state = 'ready';
    this.scheduler.makeReady(this, this.where().fleet);
  }

  private isEarly(): boolean {
    const { monotonicMs, timers } = this.scheduler.options;
    const waitMs = this.pace.waitMs(this.settings(), monotonicMs());
    if (waitMs === 0) return false;
    this.state = 'timed';
    this.cancelTimer = timers.after(Math.ceil(waitMs), () => {
      this.state = 'idle';
      this.place();
    });
    return true;
  }

  private stopTimer(): void {
    if (this.state !== 'timed') return;
    this.cancelTimer();
    this.state = 'idle';
  }

  private forgetIfDone(fleet: FleetLanes): void {
    if (this.reserved > 0 || this.waiting.length > 0 || this.state !== 'idle') return;
    const leftMs = this.pace.leftMs(this.scheduler.options.monotonicMs());
    if (leftMs === 0) this.scheduler.forget(this, fleet);
    else this.forgetLater(leftMs);
  }

  private forgetLater(leftMs: number): void {
    if (this.isForgottenLater) return;
    this.isForgottenLater = true;
    this.scheduler.options.timers.after(Math.ceil(leftMs), () => {
      this.isForgottenLater = false;
      // Looks the fleet up again, since it may have been forgotten and recreated.
      this.forgetIfDone(this.where().fleet);
    });
  }
}

class Reservation implements BegunDelivery, BusyAttempt {
  /** When it took its slot; null: it has none. */
  busySinceMs: number | null = null;

  constructor(
    private readonly scheduler: LaneScheduler,
    private readonly lane: SubscriptionLane,
    private readonly fleet: FleetLanes,
    private readonly origin: string,
  ) {
    scheduler.reservations.reserve(fleet, lane, origin);
  }

  retryStarts(latenessMs: number): void {
    this.scheduler.options.headroom.retryStarted(latenessMs);
    this.lane.countRetry();
    this.takeSlot();
  }

  takeSlot(): void {
    this.busySinceMs = this.scheduler.options.monotonicMs();
    this.lane.takeSlot(this.fleet);
    this.scheduler.busy.add(this);
  }

  answered(): void {
    if (this.busySinceMs === null) return;
    this.busySinceMs = null;
    this.lane.releaseSlot(this.fleet);
  }

  end(): void {
    this.answered();
    this.scheduler.reservations.release(this.fleet, this.lane, this.origin);
    this.lane.ended(this.fleet);
  }
}
