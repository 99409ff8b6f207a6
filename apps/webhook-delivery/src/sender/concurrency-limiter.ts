import type { WebhookSubscription } from '@waypost/domain';
import type { TimerPort } from '../common/timers.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';

/** Work of one subscription. Once run, it must call `release` on its lane exactly once. */
export interface LimitedWork {
  /** No longer needed: it is skipped and uses up neither a slot nor the rate. */
  readonly isVoid?: boolean;
  run(): void;
}

/** `too_slow`: no response within the deadline; the slot was occupied for all of it. */
export type SlotUse = 'answered' | 'too_slow';

/** Attempts in flight at a time. */
export interface ConcurrencyLimits {
  readonly perSubscription: number;
  /** All subscriptions that lead to one origin. */
  readonly perOrigin: number;
  /** This process. */
  readonly total: number;
}

export interface LaneSettings {
  readonly origin: string;
  /** Starts per second, retries included; null: unlimited. */
  readonly ratePerSecond: number | null;
}

/** The work of one subscription, first in, first out. */
export interface Lane {
  enqueue(work: LimitedWork): void;
  /** Frees the slot of work that has run. */
  release(use: SlotUse): void;
  /** Removes and returns the waiting work. */
  drain(): LimitedWork[];
}

export interface ConcurrencyLimiterOptions {
  readonly limits: ConcurrencyLimits;
  readonly settings: (subscriptionId: string) => LaneSettings;
  readonly timers: TimerPort;
  readonly now: () => number;
}

const MIN_CONCURRENCY = 2;
/** Slow lanes together use at most this fraction of all slots. */
const SLOW_FRACTION = 4;
const MAX_LATENESS_MS = 20;

/** Slots that several lanes share: those of an origin, or those for slow lanes. */
class SharedSlots {
  inFlight = 0;
  readonly blocked: Fifo<SubscriptionLane> = new Fifo();

  constructor(readonly max: number) {}

  get isFull(): boolean {
    return this.inFlight >= this.max;
  }
}

/**
 * Limits concurrent attempts per subscription, per origin and in total, and serves the lanes round robin, so that a slow
 * or dead endpoint occupies no more than its share. The limit of a lane is halved when an attempt runs into its
 * deadline and grows by one with each response; lanes below half of their limit count as slow and share a quarter of all
 * slots.
 */
export class ConcurrencyLimiter {
  inFlight = 0;
  readonly slowSlots: SharedSlots;
  private readonly ready: Fifo<SubscriptionLane> = new Fifo();
  private readonly lanes = new Map<string, SubscriptionLane>();
  private readonly origins = new Map<string, SharedSlots>();
  private isPumping = false;

  constructor(readonly options: ConcurrencyLimiterOptions) {
    this.slowSlots = new SharedSlots(Math.max(MIN_CONCURRENCY, Math.floor(options.limits.total / SLOW_FRACTION)));
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

  makeReady(lane: SubscriptionLane): void {
    this.ready.push(lane);
    this.pump();
  }

  /** Wakes the next lane that waits for these slots, if one is free. */
  wakeNext(slots: SharedSlots): void {
    const next = slots.isFull ? undefined : slots.blocked.shift();
    if (next) this.makeReady(next);
  }

  pump(): void {
    if (this.isPumping) return;
    this.isPumping = true;
    while (this.inFlight < this.options.limits.total) {
      const lane = this.ready.shift();
      if (!lane) break;
      lane.startNext();
    }
    this.isPumping = false;
  }
}

interface Slot {
  readonly origin: string;
  readonly originSlots: SharedSlots;
  readonly isSlow: boolean;
}

class SubscriptionLane implements Lane {
  private readonly waiting: Fifo<LimitedWork> = new Fifo();
  private readonly slots: Slot[] = [];
  /** In the ready queue, blocked on shared slots, or waiting for its rate: in one of these at most. */
  private isPlaced = false;
  private limit: number;
  private nextStartAt = 0;
  private isPaced = false;
  private blockedOn: SharedSlots | null = null;

  constructor(
    private readonly limiter: ConcurrencyLimiter,
    readonly subscriptionId: string,
  ) {
    this.limit = limiter.options.limits.perSubscription;
  }

  enqueue(work: LimitedWork): void {
    this.waiting.push(work);
    this.place();
  }

  drain(): LimitedWork[] {
    const drained: LimitedWork[] = [];
    for (let work = this.waiting.shift(); work; work = this.waiting.shift()) drained.push(work);
    return drained;
  }

  release(use: SlotUse): void {
    const slot = this.slots.pop();
    if (!slot) throw new Error('A slot was released twice.');
    const { perSubscription } = this.limiter.options.limits;
    this.limit =
      use === 'too_slow' ? Math.max(MIN_CONCURRENCY, this.limit >> 1) : Math.min(perSubscription, this.limit + 1);
    this.limiter.inFlight--;
    if (slot.isSlow) this.releaseShared(this.limiter.slowSlots);
    this.releaseShared(slot.originSlots);
    this.limiter.forgetOrigin(slot.origin, slot.originSlots);
    this.place();
    this.limiter.pump();
    if (this.slots.length === 0 && this.waiting.length === 0 && this.hasInitialState()) this.limiter.forget(this);
  }

  /** Called when the lane is first in the ready queue. */
  startNext(): void {
    this.isPlaced = false;
    const wokenFor = this.blockedOn;
    this.blockedOn = null;
    this.start();
    // It may not have taken the slot that it was woken for, or may have taken one elsewhere.
    if (wokenFor) this.limiter.wakeNext(wokenFor);
  }

  private start(): void {
    while (this.waiting.peek()?.isVoid === true) this.waiting.shift();
    const { origin, ratePerSecond } = this.limiter.options.settings(this.subscriptionId);
    const originSlots = this.limiter.originSlots(origin);
    const work = this.nextWork(originSlots, ratePerSecond);
    if (!work) {
      this.limiter.forgetOrigin(origin, originSlots);
      return;
    }
    const { isSlow } = this;
    originSlots.inFlight++;
    if (isSlow) this.limiter.slowSlots.inFlight++;
    this.slots.push({ origin, originSlots, isSlow });
    this.limiter.inFlight++;
    this.place();
    work.run();
  }

  private nextWork(originSlots: SharedSlots, ratePerSecond: number | null): LimitedWork | undefined {
    if (this.waiting.length === 0 || this.slots.length >= this.limit) return undefined;
    if (this.isBlockedOn(originSlots) || (this.isSlow && this.isBlockedOn(this.limiter.slowSlots))) return undefined;
    // Last: passing this check uses up one start of the rate.
    return this.isBeforeRate(ratePerSecond) ? undefined : this.waiting.shift();
  }

  private get isSlow(): boolean {
    return this.limit < this.limiter.options.limits.perSubscription >> 1;
  }

  private place(): void {
    if (this.isPlaced || this.waiting.length === 0 || this.slots.length >= this.limit) return;
    this.isPlaced = true;
    this.limiter.makeReady(this);
  }

  private isBlockedOn(slots: SharedSlots): boolean {
    if (!slots.isFull) return false;
    this.isPlaced = true;
    this.blockedOn = slots;
    slots.blocked.push(this);
    return true;
  }

  private isBeforeRate(ratePerSecond: number | null): boolean {
    if (ratePerSecond === null) return false;
    const { now, timers } = this.limiter.options;
    const at = now();
    if (at >= this.nextStartAt) {
      // Timers fire late by fractions: a lane that waited counts from its due time, or the rate would fall behind.
      const from = this.isPaced ? Math.max(this.nextStartAt, at - MAX_LATENESS_MS) : at;
      this.nextStartAt = from + 1000 / ratePerSecond;
      this.isPaced = false;
      return false;
    }
    this.isPaced = true;
    this.isPlaced = true;
    timers.after(Math.ceil(this.nextStartAt - at), () => {
      this.limiter.makeReady(this);
    });
    return true;
  }

  private releaseShared(slots: SharedSlots): void {
    slots.inFlight--;
    this.limiter.wakeNext(slots);
  }

  private hasInitialState(): boolean {
    return this.limit === this.limiter.options.limits.perSubscription && this.nextStartAt <= this.limiter.options.now();
  }
}

const UNKNOWN_SUBSCRIPTION: LaneSettings = { origin: '', ratePerSecond: null };

/** The lane settings of a subscription, computed once per version of it. */
export function createLaneSettings(
  directory: Pick<SubscriptionDirectory, 'get'>,
): (subscriptionId: string) => LaneSettings {
  const known = new WeakMap<WebhookSubscription, LaneSettings>();
  return (subscriptionId) => {
    const subscription = directory.get(subscriptionId);
    if (!subscription) return UNKNOWN_SUBSCRIPTION;
    let settings = known.get(subscription);
    if (!settings) {
      settings = { origin: originOf(subscription.url), ratePerSecond: subscription.rateLimitPerSecond };
      known.set(subscription, settings);
    }
    return settings;
  };
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** A queue whose `shift` takes constant time at any length. */
class Fifo<T> {
  private items: (T | undefined)[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  peek(): T | undefined {
    return this.items[this.head];
  }

  push(item: T): void {
    this.items.push(item);
  }

  shift(): T | undefined {
    if (this.head === this.items.length) return undefined;
    const item = this.items[this.head];
    this.items[this.head++] = undefined;
    if (this.head === this.items.length) {
      this.items = [];
      this.head = 0;
    } else if (this.head > 1_024 && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }
}
