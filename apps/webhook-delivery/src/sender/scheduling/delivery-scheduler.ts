import { Fifo } from '../../collections/fifo.js';
import { type Headroom, PacedWork } from '../../process/headroom.js';
import type { TimerPort } from '../../process/timers.js';
import { type ReservationLimits, Reservations } from '../../shares/reservations.js';
import { ShareQueue } from '../../shares/share-queue.js';
import { BusyAttempts } from './busy-attempts.js';
import type { Lane, QueuedDelivery } from './lane.js';
import type { LaneSettings } from './lane-settings.js';
import { FleetLanes, type LaneScheduler, SubscriptionLane } from './subscription-lane.js';

/** Attempts that keep this process busy: connecting, writing, reading up to the status line. */
export interface SlotLimits {
  readonly perSubscription: number;
  readonly perFleet: number;
  /** The limit while other fleets send too, whose deliveries wait for the slots of this one. */
  readonly perFleetBesideOthers: number;
  readonly total: number;
}

export interface DeliverySchedulerOptions {
  readonly reservations: ReservationLimits;
  readonly slots: SlotLimits;
  readonly settings: (subscriptionId: string) => LaneSettings;
  readonly timers: TimerPort;
  readonly monotonicMs: () => number;
  readonly headroom: Pick<Headroom, 'share' | 'retryStarted'>;
}

/** Deliveries begun between looks at the time. */
const BEGUN_PER_STEP = 8;
/**
 * Then the event loop goes round. Otherwise every response begins another delivery in the same turn, and retries that
 * have become due wait for all of them.
 */
const BEGUN_PER_TURN = 32;
/** The shortest timer: it ends the turn, and those of due retries come before it. */
const NEXT_TURN_MS = 1;
/** For this time after slots went to different fleets, a fleet counts as one of several. */
const BESIDE_OTHERS_FOR_MS = 1_000;

/**
 * Decides when a delivery begins. It needs a reservation for all of its attempts and a slot for its first
 * one. Slots rotate by fleet, then by subscription. Retries start when they are due, without asking.
 */
export class DeliveryScheduler implements LaneScheduler {
  readonly reservations: Reservations;
  readonly shares: ShareQueue;
  readonly busy: BusyAttempts;
  private slotsInUse = 0;
  private readonly lanes = new Map<string, SubscriptionLane>();
  private readonly fleets = new Map<string, FleetLanes>();
  private readonly readyFleets: Fifo<FleetLanes> = new Fifo();
  private isPumping = false;
  private isResting = false;
  private begunInTurn = 0;
  private readonly paced: PacedWork;
  private lastFleet: FleetLanes | null = null;
  private besideOthersUntilMs = 0;

  constructor(readonly options: DeliverySchedulerOptions) {
    this.reservations = new Reservations(options.reservations);
    this.shares = new ShareQueue(this.reservations, options);
    this.busy = new BusyAttempts(options.timers, options.monotonicMs);
    this.paced = new PacedWork(options.monotonicMs, () => options.headroom.share());
  }

  get inFlight(): number {
    return this.slotsInUse;
  }

  lane(subscriptionId: string): Lane {
    let lane = this.lanes.get(subscriptionId);
    if (!lane) this.lanes.set(subscriptionId, (lane = new SubscriptionLane(this, subscriptionId)));
    return lane;
  }

  /** Takes the waiting deliveries out of their lane. */
  drain(subscriptionId: string): QueuedDelivery[] {
    return this.lanes.get(subscriptionId)?.drain() ?? [];
  }

  /** The number of subscriptions with a lane. */
  get size(): number {
    return this.lanes.size;
  }

  /** Call when the lane settings of a subscription may have changed. */
  settingsChanged(subscriptionId: string): void {
    this.lanes.get(subscriptionId)?.settingsChanged();
  }

  /** Whether a rate limit or a Retry-After holds back waiting deliveries. */
  waitsForTime(subscriptionId: string): boolean {
    return this.lanes.get(subscriptionId)?.isTimed ?? false;
  }

  fleet(fleetId: string): FleetLanes {
    let fleet = this.fleets.get(fleetId);
    if (!fleet) this.fleets.set(fleetId, (fleet = new FleetLanes(fleetId)));
    return fleet;
  }

  forget(lane: SubscriptionLane, fleet: FleetLanes): void {
    if (this.lanes.get(lane.subscriptionId) === lane) this.lanes.delete(lane.subscriptionId);
    const isEmpty = fleet.reserved === 0 && fleet.ready.length + fleet.beyondShare.length === 0;
    if (isEmpty && this.fleets.get(fleet.fleetId) === fleet) this.fleets.delete(fleet.fleetId);
  }

  makeReady(lane: SubscriptionLane, fleet: FleetLanes): void {
    fleet.ready.push(lane);
    this.list(fleet);
    this.pump();
  }

  takeSlot(fleet: FleetLanes): void {
    if (this.lastFleet !== fleet && this.lastFleet !== null)
      this.besideOthersUntilMs = this.options.monotonicMs() + BESIDE_OTHERS_FOR_MS;
    this.lastFleet = fleet;
    this.slotsInUse++;
    fleet.slots++;
  }

  releaseSlot(fleet: FleetLanes): void {
    this.slotsInUse--;
    fleet.slots--;
    this.list(fleet);
  }

  pump(): void {
    if (this.isPumping || this.isResting) return;
    this.isPumping = true;
    while (this.canBegin() && !this.rests()) {
      this.paced.run(() => {
        for (let begun = 0; begun < BEGUN_PER_STEP && this.canBegin(); begun++) this.beginNext();
      });
    }
    this.isPumping = false;
  }

  private canBegin(): boolean {
    const hasRoom = this.slotsInUse < this.options.slots.total && this.begunInTurn < BEGUN_PER_TURN;
    return hasRoom && this.readyFleets.length > 0;
  }

  private beginNext(): void {
    const fleet = this.readyFleets.shift();
    if (!fleet) return;
    fleet.isListed = false;
    if (fleet.ready.shift()?.beginNext() === true) this.countInTurn();
    this.list(fleet);
  }

  private countInTurn(): void {
    if (this.begunInTurn++ > 0) return;
    this.options.timers.after(NEXT_TURN_MS, () => {
      this.begunInTurn = 0;
      this.pump();
    });
  }

  private rests(): boolean {
    const restMs = this.paced.restMs();
    if (restMs === 0) return false;
    this.isResting = true;
    this.options.timers.after(Math.ceil(restMs), () => {
      this.isResting = false;
      this.pump();
    });
    return true;
  }

  private list(fleet: FleetLanes): void {
    if (fleet.isListed || fleet.ready.length === 0 || fleet.slots >= this.fleetLimit()) return;
    fleet.isListed = true;
    this.readyFleets.push(fleet);
  }

  private fleetLimit(): number {
    const { perFleet, perFleetBesideOthers } = this.options.slots;
    return this.options.monotonicMs() < this.besideOthersUntilMs ? perFleetBesideOthers : perFleet;
  }
}
