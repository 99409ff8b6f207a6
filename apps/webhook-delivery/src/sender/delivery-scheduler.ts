import type { TimerPort } from '../process/timers.js';
import { Fifo } from '../queues/fifo.js';
import { type BusyAttempt, BusyAttempts } from './busy-attempts.js';
import type { LaneSettings } from './lane-settings.js';
import { type ReservationCount, type ReservationLimits, Reservations } from './reservations.js';

/** A delivery that waits to begin. */
export interface WaitingDelivery {
  /** No longer needed: it is skipped and uses up neither a slot nor the rate. */
  readonly isVoid: boolean;
  /** False: not yet, because its partition may have another owner. It is asked again soon. */
  mayBegin(): boolean;
  /** Called once, with its first attempt already counted: `begun.answered` and `begun.end` must follow. */
  begin(begun: BegunDelivery): void;
}

/** A delivery from its first attempt here to its last. */
export interface BegunDelivery {
  /** A retry starts. It never waits, neither for a slot nor for the rate. */
  retryStarts(): void;
  /** The attempt has its status line, or is over: its slot is free. May be called again. */
  answered(): void;
  /** Finished, or held: the reservation is free. */
  end(): void;
}

/** Attempts that keep this process busy: connecting, writing, reading up to the status line. */
export interface SlotLimits {
  readonly perSubscription: number;
  readonly perFleet: number;
  /** While other fleets send too: what one has in its slots, the deliveries of the others wait for. */
  readonly perFleetBesideOthers: number;
  readonly total: number;
}

/** The deliveries of one subscription that wait to begin, first in, first out. */
export interface Lane {
  enqueue(delivery: WaitingDelivery): void;
  /** Begins at once: a predecessor began it, and its retry is due. */
  resume(): BegunDelivery;
  /** No delivery begins before (Retry-After, R-22). Monotonic. */
  beginNoneBefore(endMs: number): void;
  /** Removes and returns what waits. */
  drain(): WaitingDelivery[];
}

export interface DeliverySchedulerOptions {
  readonly reservations: ReservationLimits;
  readonly slots: SlotLimits;
  readonly settings: (subscriptionId: string) => LaneSettings;
  readonly timers: TimerPort;
  readonly monotonicMs: () => number;
}

/** Lanes beyond their share try again this often, and whenever a delivery of theirs ends. */
const SHARE_CHECK_MS = 50;
/** What R-22 allows: a timer that fires later costs a paced lane its start. */
const MAX_LATENESS_MS = 20;
/** A fleet counts as one beside others for this time after slots went to different fleets. */
const BESIDE_OTHERS_FOR_MS = 1_000;

/**
 * Decides when a delivery begins. It needs a reservation for all of its attempts and, for its first one, a
 * slot; slots are passed round by fleet, then by subscription. Retries start when they are due, without asking.
 */
export class DeliveryScheduler {
  readonly reservations: Reservations;
  readonly busy: BusyAttempts;
  private slotsInUse = 0;
  private readonly lanes = new Map<string, SubscriptionLane>();
  private readonly fleets = new Map<string, Fleet>();
  private readonly readyFleets: Fifo<Fleet> = new Fifo();
  private beyondShare = new Set<SubscriptionLane>();
  private isPumping = false;
  private lastFleet: Fleet | null = null;
  private besideOthersUntilMs = 0;

  constructor(readonly options: DeliverySchedulerOptions) {
    this.reservations = new Reservations(options.reservations);
    this.busy = new BusyAttempts(options.timers, options.monotonicMs);
  }

  /** Attempts in their slots. */
  get inFlight(): number {
    return this.slotsInUse;
  }

  lane(subscriptionId: string): Lane {
    let lane = this.lanes.get(subscriptionId);
    if (!lane) this.lanes.set(subscriptionId, (lane = new SubscriptionLane(this, subscriptionId)));
    return lane;
  }

  /** Its rate or a Retry-After keeps back what waits. */
  waitsForTime(subscriptionId: string): boolean {
    return this.lanes.get(subscriptionId)?.isTimed ?? false;
  }

  fleet(fleetId: string): Fleet {
    let fleet = this.fleets.get(fleetId);
    if (!fleet) this.fleets.set(fleetId, (fleet = new Fleet(fleetId)));
    return fleet;
  }

  forget(lane: SubscriptionLane, fleet: Fleet): void {
    if (this.lanes.get(lane.subscriptionId) === lane) this.lanes.delete(lane.subscriptionId);
    if (fleet.reserved === 0 && fleet.ready.length === 0) this.fleets.delete(fleet.fleetId);
  }

  makeReady(lane: SubscriptionLane, fleet: Fleet): void {
    fleet.ready.push(lane);
    this.list(fleet);
    this.pump();
  }

  waitForShare(lane: SubscriptionLane): void {
    if (this.beyondShare.size === 0) this.options.timers.after(SHARE_CHECK_MS, this.checkShares);
    this.beyondShare.add(lane);
  }

  takeSlot(fleet: Fleet): void {
    if (this.lastFleet !== fleet && this.lastFleet !== null)
      this.besideOthersUntilMs = this.options.monotonicMs() + BESIDE_OTHERS_FOR_MS;
    this.lastFleet = fleet;
    this.slotsInUse++;
    fleet.slots++;
  }

  releaseSlot(fleet: Fleet): void {
    this.slotsInUse--;
    fleet.slots--;
    this.list(fleet);
  }

  pump(): void {
    if (this.isPumping) return;
    this.isPumping = true;
    const { total } = this.options.slots;
    while (this.slotsInUse < total) {
      const fleet = this.readyFleets.shift();
      if (!fleet) break;
      fleet.isListed = false;
      fleet.ready.shift()?.beginNext();
      this.list(fleet);
    }
    this.isPumping = false;
  }

  private list(fleet: Fleet): void {
    if (fleet.isListed || fleet.ready.length === 0 || fleet.slots >= this.fleetLimit()) return;
    fleet.isListed = true;
    this.readyFleets.push(fleet);
  }

  private fleetLimit(): number {
    const { perFleet, perFleetBesideOthers } = this.options.slots;
    return this.options.monotonicMs() < this.besideOthersUntilMs ? perFleetBesideOthers : perFleet;
  }

  private readonly checkShares = (): void => {
    const lanes = this.beyondShare;
    this.beyondShare = new Set();
    for (const lane of lanes) lane.checkShare();
  };
}

class Fleet implements ReservationCount {
  reserved = 0;
  slots = 0;
  isListed = false;
  readonly ready: Fifo<SubscriptionLane> = new Fifo();

  constructor(readonly fleetId: string) {}
}

/** ready: in its fleet's queue. beyond_share, timed: a timer makes it ready. idle: nothing waits, or its slots are full. */
type Placement = 'idle' | 'ready' | 'beyond_share' | 'timed';

class SubscriptionLane implements Lane, ReservationCount {
  reserved = 0;
  private slots = 0;
  private readonly waiting: Fifo<WaitingDelivery> = new Fifo();
  private placement: Placement = 'idle';
  private notBeforeMs = 0;
  private nextStartMs = 0;
  private isPaced = false;

  constructor(
    private readonly scheduler: DeliveryScheduler,
    readonly subscriptionId: string,
  ) {}

  enqueue(delivery: WaitingDelivery): void {
    this.waiting.push(delivery);
    this.place();
  }

  resume(): BegunDelivery {
    return this.reserve();
  }

  beginNoneBefore(endMs: number): void {
    this.notBeforeMs = Math.max(this.notBeforeMs, endMs);
  }

  drain(): WaitingDelivery[] {
    const drained: WaitingDelivery[] = [];
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) drained.push(next);
    return drained;
  }

  /** Called when the lane is first in the queue of its fleet, which has a slot free. */
  beginNext(): void {
    this.placement = 'idle';
    while (this.waiting.peek()?.isVoid === true) this.waiting.shift();
    const next = this.waiting.peek();
    if (next === undefined || this.isFull) return;
    const { fleet, origin, ratePerSecond } = this.where();
    if (!next.mayBegin() || !this.scheduler.reservations.hasRoom(fleet, this, origin)) {
      this.placement = 'beyond_share';
      this.scheduler.waitForShare(this);
      return;
    }
    // Last: passing this check uses up one start of the rate.
    if (this.isEarly(ratePerSecond)) return;
    const delivery = this.waiting.shift();
    const begun = this.reserve();
    begun.takeSlot();
    this.place();
    delivery?.begin(begun);
  }

  checkShare(): void {
    if (this.placement !== 'beyond_share') return;
    this.placement = 'idle';
    this.place();
  }

  takeSlot(fleet: Fleet): void {
    this.slots++;
    this.scheduler.takeSlot(fleet);
  }

  releaseSlot(fleet: Fleet): void {
    this.slots--;
    this.scheduler.releaseSlot(fleet);
    this.place();
    this.scheduler.pump();
  }

  /** A retry takes the place of a delivery that has not begun, so that the rate holds over time. */
  countRetry(): void {
    const { ratePerSecond } = this.where();
    if (ratePerSecond === null) return;
    this.nextStartMs = Math.max(this.nextStartMs, this.scheduler.options.monotonicMs()) + 1_000 / ratePerSecond;
  }

  ended(fleet: Fleet): void {
    this.checkShare();
    if (this.isForgettable()) this.scheduler.forget(this, fleet);
  }

  private reserve(): Reservation {
    const { fleet, origin } = this.where();
    return new Reservation(this.scheduler, this, fleet, origin);
  }

  private where() {
    const { fleetId, origin, ratePerSecond } = this.scheduler.options.settings(this.subscriptionId);
    return { fleet: this.scheduler.fleet(fleetId), origin, ratePerSecond };
  }

  get isTimed(): boolean {
    return this.placement === 'timed';
  }

  private get isFull(): boolean {
    return this.slots >= this.scheduler.options.slots.perSubscription;
  }

  private place(): void {
    if (this.placement !== 'idle' || this.waiting.length === 0 || this.isFull) return;
    this.placement = 'ready';
    this.scheduler.makeReady(this, this.where().fleet);
  }

  private isEarly(ratePerSecond: number | null): boolean {
    const { monotonicMs, timers } = this.scheduler.options;
    const atMs = monotonicMs();
    const startMs = Math.max(this.notBeforeMs, ratePerSecond === null ? 0 : this.nextStartMs);
    if (atMs >= startMs) {
      if (ratePerSecond !== null) this.countStart(atMs, ratePerSecond);
      return false;
    }
    this.isPaced = startMs > this.notBeforeMs;
    this.placement = 'timed';
    timers.after(Math.ceil(startMs - atMs), () => {
      this.placement = 'idle';
      this.place();
    });
    return true;
  }

  private countStart(atMs: number, ratePerSecond: number): void {
    // Timers fire late by fractions: a lane that waited counts from its due time, or the rate would fall behind.
    const from = this.isPaced ? Math.max(this.nextStartMs, atMs - MAX_LATENESS_MS) : atMs;
    this.nextStartMs = from + 1_000 / ratePerSecond;
    this.isPaced = false;
  }

  private isForgettable(): boolean {
    const atMs = this.scheduler.options.monotonicMs();
    const isEmpty = this.reserved === 0 && this.waiting.length === 0 && this.placement === 'idle';
    return isEmpty && this.nextStartMs <= atMs && this.notBeforeMs <= atMs;
  }
}

class Reservation implements BegunDelivery, BusyAttempt {
  /** When it took its slot; null: it has none. */
  busySinceMs: number | null = null;

  constructor(
    private readonly scheduler: DeliveryScheduler,
    private readonly lane: SubscriptionLane,
    private readonly fleet: Fleet,
    private readonly origin: string,
  ) {
    scheduler.reservations.reserve(fleet, lane, origin);
  }

  retryStarts(): void {
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
