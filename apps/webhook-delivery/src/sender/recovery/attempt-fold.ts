import {
  DELIVERY_UNSTARTED,
  deliveryFold,
  type DeliveryProgress,
  isFoldable,
  type SubscriptionState,
  type WebhookAttempt,
} from '@waypost/domain';
import { progressOfKnown } from './known-deliveries.js';

/** The waits of a subscription that follow from its recent attempts. Epoch ms. */
export interface RecoveredWait {
  /** When its last probe started. */
  readonly probedAt: number | null;
  /** No first attempt starts before this (Retry-After, R-22). */
  readonly notBefore: number;
}

/** What the attempts of a partition say about its deliveries. */
export interface FoldedAttempts {
  /** Progress by offset of the delivery; absent: no attempt was logged, or none is part of known progress. */
  readonly byDelivery: Map<number, DeliveryProgress>;
  /** The highest delivery with an attempt, by subscription. */
  readonly begunUpTo: ReadonlyMap<string, number>;
  /** The highest delivery with an attempt; -1: none. */
  readonly lastDelivery: number;
  readonly waits: ReadonlyMap<string, RecoveredWait>;
  /** The last attempt accepted since the outage recorded in the subscription's state. */
  readonly accepted: ReadonlyMap<string, WebhookAttempt>;
}

export interface AttemptFoldOptions {
  /** The committed position. */
  readonly startOffset: number;
  readonly deliveriesEnd: number;
  readonly states: ReadonlyMap<string, SubscriptionState>;
}

/** Folds the attempt log of a partition, in its order, into what a sender must know to take over. */
export class AttemptFold {
  private readonly byDelivery: Map<number, DeliveryProgress>;
  private readonly begunUpTo = new Map<string, number>();
  private readonly waits = new Map<string, RecoveredWait>();
  private readonly accepted = new Map<string, WebhookAttempt>();
  private lastDelivery = -1;

  constructor(private readonly options: AttemptFoldOptions) {
    this.byDelivery = new Map([...options.states.values()].flatMap((state) => [...progressOfKnown(state)]));
  }

  add(attempt: WebhookAttempt): void {
    // Offsets beyond the end of the log are bogus: a delivery is in the log before it is sent.
    if (!isFoldable(attempt) || attempt.deliveryOffset >= this.options.deliveriesEnd) return;
    const state = this.options.states.get(attempt.subscriptionId);
    this.addWait(attempt);
    this.addAccepted(attempt, state);
    this.addLastDelivery(attempt, state);
    if (!this.mayBeUnfinished(attempt, state)) return;
    this.addBegun(attempt);
    this.addProgress(attempt);
  }

  result(): FoldedAttempts {
    const { byDelivery, begunUpTo, lastDelivery, waits, accepted } = this;
    return { byDelivery, begunUpTo, lastDelivery, waits, accepted };
  }

  private addWait(attempt: WebhookAttempt): void {
    const wait = waitAfter(attempt, this.waits.get(attempt.subscriptionId));
    if (wait) this.waits.set(attempt.subscriptionId, wait);
  }

  private addAccepted(attempt: WebhookAttempt, state: SubscriptionState | undefined): void {
    const since = state?.suspendedAt ?? state?.failingSince ?? null;
    if (since === null) return;
    if (endsOutage(attempt, since)) this.accepted.set(attempt.subscriptionId, attempt);
    else if (beginsOutage(attempt, since)) this.accepted.delete(attempt.subscriptionId);
  }

  /**
   * Counts what may be unfinished, and everything from the position on: once a subscription is no longer held, only the
   * attempt shows that its delivery is finished.
   */
  private addLastDelivery(attempt: WebhookAttempt, state: SubscriptionState | undefined): void {
    const { deliveryOffset } = attempt;
    if (deliveryOffset < this.options.startOffset && !this.mayBeUnfinished(attempt, state)) return;
    this.lastDelivery = Math.max(this.lastDelivery, deliveryOffset);
  }

  /** Everything before the position is finished, and for a parked backlog everything before the first that is only in the log. */
  private mayBeUnfinished({ deliveryOffset }: WebhookAttempt, state: SubscriptionState | undefined): boolean {
    return deliveryOffset >= (state?.parkedFrom ?? this.options.startOffset);
  }

  private addBegun({ subscriptionId, deliveryOffset }: WebhookAttempt): void {
    this.begunUpTo.set(subscriptionId, Math.max(this.begunUpTo.get(subscriptionId) ?? -1, deliveryOffset));
  }

  private addProgress(attempt: WebhookAttempt): void {
    const before = this.byDelivery.get(attempt.deliveryOffset) ?? DELIVERY_UNSTARTED;
    this.byDelivery.set(attempt.deliveryOffset, deliveryFold(before, attempt));
  }
}

function waitAfter(
  { probe, startedAt, durationMs, retryAfterMs }: WebhookAttempt,
  before: RecoveredWait | undefined,
): RecoveredWait | undefined {
  if (!probe && retryAfterMs === null) return before;
  const notBefore = retryAfterMs === null ? 0 : startedAt + durationMs + retryAfterMs;
  return {
    probedAt: probe ? startedAt : (before?.probedAt ?? null),
    notBefore: Math.max(before?.notBefore ?? 0, notBefore),
  };
}

/** An attempt may be logged while the sender closes, or just before it dies, too late for the state record. */
function endsOutage({ outcome, startedAt, durationMs }: WebhookAttempt, since: number): boolean {
  return outcome === 'delivered' && startedAt + durationMs > since;
}

/** Any acceptance logged before this failure predates the outage, even if a clock that was ahead dated it later. */
function beginsOutage({ outcome, startedAt, durationMs }: WebhookAttempt, since: number): boolean {
  return outcome !== 'delivered' && startedAt + durationMs <= since;
}
