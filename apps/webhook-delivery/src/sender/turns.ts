import type { TimerPort } from './due-timers.js';
import { Fifo } from './fifo.js';

/** Something of one subscription that wants to run. It must call `end` on its lane once, when its slot is free again. */
export interface Turn {
  /** Whoever wanted it is gone: it is passed over, and uses up neither a slot nor a rate. */
  readonly isVoid?: boolean;
  run(): void;
}

/** `too_slow`: nothing came within the deadline; the slot was held for all of it. */
export type TurnEnd = 'answered' | 'too_slow';

export interface TurnLimits {
  /** In flight of one subscription. */
  readonly perSubscription: number;
  /** In flight to one origin, whoever's subscriptions lead there. */
  readonly perOrigin: number;
  /** In flight of this process. */
  readonly total: number;
}

/** What a subscription asks for at the moment. */
export interface LaneSettings {
  readonly origin: string;
  /** Starts per second, retries included; null: as many as fit. */
  readonly ratePerSecond: number | null;
}

/**
 * Fair turns: subscriptions with work take turns, each within its own cap, so that a slow or dead endpoint holds
 * no more than its share. A cap shrinks while an endpoint lets attempts run into their deadline, and those that do
 * share a quarter of all slots; an endpoint that answers gets its cap back. First come, first served within a
 * subscription.
 */
export interface Turns {
  lane(subscriptionId: string): Lane;
  readonly inFlight: number;
}

export interface Lane {
  enqueue(turn: Turn): void;
  /** Gives the slot back of a turn that has run. */
  end(how: TurnEnd): void;
  /** Turns that wait, taken out. */
  drain(): Turn[];
}

export interface TurnsOptions {
  readonly limits: TurnLimits;
  readonly settings: (subscriptionId: string) => LaneSettings;
  readonly timers: TimerPort;
  readonly now: () => number;
}

const MIN_CAP = 2;
const DEGRADED_SHARE = 4;
const MAX_LATENESS_MS = 20;

export const createTurns = (options: TurnsOptions): Turns => new FairTurns(options);

/** What several lanes wait for together: the slots of an origin, or those of slow endpoints. */
class SharedSlots {
  inFlight = 0;
  readonly blocked = new Fifo<SubscriptionLane>();

  constructor(readonly max: number) {}

  get isFull(): boolean {
    return this.inFlight >= this.max;
  }
}

class FairTurns implements Turns {
  inFlight = 0;
  private readonly ready = new Fifo<SubscriptionLane>();
  private readonly lanes = new Map<string, SubscriptionLane>();
  private readonly origins = new Map<string, SharedSlots>();
  readonly degraded: SharedSlots;
  private pumping = false;

  constructor(readonly options: TurnsOptions) {
    this.degraded = new SharedSlots(Math.max(MIN_CAP, Math.floor(options.limits.total / DEGRADED_SHARE)));
  }

  lane(subscriptionId: string): Lane {
    let lane = this.lanes.get(subscriptionId);
    if (!lane) this.lanes.set(subscriptionId, (lane = new SubscriptionLane(this, subscriptionId)));
    return lane;
  }

  forget(lane: SubscriptionLane): void {
    if (this.lanes.get(lane.subscriptionId) === lane) this.lanes.delete(lane.subscriptionId);
  }

  originSlots(origin: string): SharedSlots {
    let slots = this.origins.get(origin);
    if (!slots) this.origins.set(origin, (slots = new SharedSlots(this.options.limits.perOrigin)));
    return slots;
  }

  forgetOrigin(origin: string, slots: SharedSlots): void {
    if (slots.inFlight === 0 && slots.blocked.length === 0) this.origins.delete(origin);
  }

  line(lane: SubscriptionLane): void {
    this.ready.push(lane);
    this.pump();
  }

  /** To the next that waits for these slots, if one is free. */
  passOn(slots: SharedSlots): void {
    const next = slots.isFull ? undefined : slots.blocked.shift();
    if (next) this.line(next);
  }

  pump(): void {
    if (this.pumping) return;
    this.pumping = true;
    while (this.inFlight < this.options.limits.total) {
      const lane = this.ready.shift();
      if (!lane) break;
      lane.takeTurn();
    }
    this.pumping = false;
  }
}

interface Slot {
  readonly origin: string;
  readonly originSlots: SharedSlots;
  readonly isDegraded: boolean;
}

class SubscriptionLane implements Lane {
  private readonly waiting = new Fifo<Turn>();
  private readonly slots: Slot[] = [];
  /** In the ready queue, blocked at shared slots, or waiting for its rate: it is in one place at most. */
  private isPlaced = false;
  private cap: number;
  private nextStartAt = 0;
  private isPaced = false;
  private blockedAt: SharedSlots | null = null;

  constructor(
    private readonly turns: FairTurns,
    readonly subscriptionId: string,
  ) {
    this.cap = turns.options.limits.perSubscription;
  }

  enqueue(turn: Turn): void {
    this.waiting.push(turn);
    this.place();
  }

  drain(): Turn[] {
    const drained: Turn[] = [];
    for (let turn = this.waiting.shift(); turn; turn = this.waiting.shift()) drained.push(turn);
    return drained;
  }

  end(how: TurnEnd): void {
    const slot = this.slots.pop();
    if (!slot) throw new Error('A turn ended that had no slot.');
    const { perSubscription } = this.turns.options.limits;
    this.cap = how === 'too_slow' ? Math.max(MIN_CAP, this.cap >> 1) : Math.min(perSubscription, this.cap + 1);
    this.turns.inFlight--;
    if (slot.isDegraded) this.release(this.turns.degraded);
    this.release(slot.originSlots);
    this.turns.forgetOrigin(slot.origin, slot.originSlots);
    this.place();
    this.turns.pump();
    if (this.slots.length === 0 && this.waiting.length === 0 && this.isAsNew()) this.turns.forget(this);
  }

  /** Called when it is first in line. */
  takeTurn(): void {
    this.isPlaced = false;
    const wokenFor = this.blockedAt;
    this.blockedAt = null;
    this.startTurn();
    // Woken for a slot that it did not take, or took elsewhere.
    if (wokenFor) this.turns.passOn(wokenFor);
  }

  private startTurn(): void {
    while (this.waiting.peek()?.isVoid === true) this.waiting.shift();
    const { origin, ratePerSecond } = this.turns.options.settings(this.subscriptionId);
    const originSlots = this.turns.originSlots(origin);
    const turn = this.nextTurn(originSlots, ratePerSecond);
    if (!turn) {
      this.turns.forgetOrigin(origin, originSlots);
      return;
    }
    const { isDegraded } = this;
    originSlots.inFlight++;
    if (isDegraded) this.turns.degraded.inFlight++;
    this.slots.push({ origin, originSlots, isDegraded });
    this.turns.inFlight++;
    this.place();
    turn.run();
  }

  private nextTurn(originSlots: SharedSlots, ratePerSecond: number | null): Turn | undefined {
    if (this.waiting.length === 0 || this.slots.length >= this.cap) return undefined;
    if (this.waitsFor(originSlots) || (this.isDegraded && this.waitsFor(this.turns.degraded))) return undefined;
    // Last: whoever passes here has used up the moment that its rate allows.
    return this.waitsForRate(ratePerSecond) ? undefined : this.waiting.shift();
  }

  private get isDegraded(): boolean {
    return this.cap < this.turns.options.limits.perSubscription >> 1;
  }

  private place(): void {
    if (this.isPlaced || this.waiting.length === 0 || this.slots.length >= this.cap) return;
    this.isPlaced = true;
    this.turns.line(this);
  }

  private waitsFor(slots: SharedSlots): boolean {
    if (!slots.isFull) return false;
    this.isPlaced = true;
    this.blockedAt = slots;
    slots.blocked.push(this);
    return true;
  }

  private waitsForRate(ratePerSecond: number | null): boolean {
    if (ratePerSecond === null) return false;
    const { now, timers } = this.turns.options;
    const at = now();
    if (at >= this.nextStartAt) {
      // Timers are late by fractions: whoever waited counts from when its turn was, else the rate would fall behind.
      const from = this.isPaced ? Math.max(this.nextStartAt, at - MAX_LATENESS_MS) : at;
      this.nextStartAt = from + 1000 / ratePerSecond;
      this.isPaced = false;
      return false;
    }
    this.isPaced = true;
    this.isPlaced = true;
    timers.after(Math.ceil(this.nextStartAt - at), () => {
      this.turns.line(this);
    });
    return true;
  }

  private release(slots: SharedSlots): void {
    slots.inFlight--;
    this.turns.passOn(slots);
  }

  private isAsNew(): boolean {
    return this.cap === this.turns.options.limits.perSubscription && this.nextStartAt <= this.turns.options.now();
  }
}
