import {
  concernsEndpoint,
  DISABLE_AFTER_DAYS,
  healthAfter,
  healthSince,
  HEALTHY,
  operationId,
  PROBE_EVERY_MS,
  SUSPEND_AFTER_MS,
  type WebhookAttempt,
} from '@waypost/domain';
import type { DeliveryMetrics } from '../metrics/delivery-metrics.js';
import { type Clocks, type Moment, momentNow, momentOfLog } from '../process/clocks.js';
import type { TimerPort } from '../process/timers.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import type { AttemptLog } from './attempt-log.js';
import type { StateRecords } from './state-records.js';
import type { SubscriptionQueue } from './subscription-queue.js';

export interface OutageOptions extends Clocks {
  readonly directory: Pick<SubscriptionDirectory, 'get' | 'isPaused'>;
  readonly log: AttemptLog;
  readonly states: StateRecords;
  readonly timers: TimerPort;
  readonly metrics: DeliveryMetrics;
  /** Holds the waiting deliveries. */
  readonly hold: (queue: SubscriptionQueue) => void;
  /** Releases the held deliveries, in the order of the log. */
  readonly release: (queue: SubscriptionQueue) => void;
  /** Sends one held delivery, if there is one. */
  readonly probe: (queue: SubscriptionQueue) => void;
}

/** The outcome of an attempt or a probe. */
export type AttemptOutcome = Pick<WebhookAttempt, 'eventId' | 'statusCode' | 'errorCode' | 'fleetId'> & {
  readonly deliveryOffset: number;
  readonly isAccepted: boolean;
  readonly isFailure: boolean;
  readonly ended: Moment;
};

/** The oldest delivery of a queue may still be on its way from the log. */
const NOTHING_TO_PROBE_MS = 1_000;

const SUSPENDED = `only failures for ${String(SUSPEND_AFTER_MS / 60_000)} minutes: deliveries are held until a probe is accepted`;
const DISABLED = `only failures for ${String(DISABLE_AFTER_DAYS)} days`;

/**
 * Watches the endpoints of a partition: suspends a subscription with `onOutage: hold` after minutes of failures only,
 * probes it until an attempt is accepted, and publishes when an endpoint has failed for days, so that the subscription is
 * disabled.
 */
export class Outage {
  private readonly probes = new Map<SubscriptionQueue, () => void>();
  private isClosed = false;
  /** `failingSince` of what was published. A disabled subscription gets no new deliveries, but its pending ones may still fail. */
  private readonly disabled = new WeakMap<SubscriptionQueue, number | null>();

  constructor(private readonly options: OutageOptions) {}

  ended(queue: SubscriptionQueue, how: AttemptOutcome): void {
    // Attempts in flight end after the close; the successor draws its own conclusions from the log.
    if (this.isClosed) return;
    if (!how.isAccepted && !concernsEndpoint(how.errorCode)) return;
    const subscription = this.options.directory.get(queue.subscriptionId);
    // An attempt that was in flight when it was deleted.
    if (!how.isAccepted && subscription === undefined) return;
    const before = healthSince(queue.health, subscription?.updatedAt ?? 0);
    if (how.isAccepted && queue.health.failingSince === null && !queue.isSuspended) return;
    const { isAccepted, isFailure, ended } = how;
    if (before.failingSince === null) queue.failingSinceMs = ended.monotonicMs;
    const { health, change, isDisableDue } = healthAfter(before, {
      isAccepted,
      isFailure,
      endedAt: ended.epochMs,
      failingForMs: ended.monotonicMs - queue.failingSinceMs,
      onOutage: subscription?.onOutage ?? 'fail',
    });
    if (health !== queue.health) this.options.states.watch(queue);
    queue.health = health;
    if (change === 'suspended') this.suspend(queue, how);
    if (change === 'resumed') this.resume(queue, how, 'a probe was accepted');
    if (isDisableDue) this.disable(queue, how);
  }

  /** Forgets its failures: nothing is left that could fail or succeed. One that is suspended is released as usual. */
  deleted(queue: SubscriptionQueue): void {
    if (queue.health.failingSince === null) return;
    queue.health = { ...HEALTHY, suspendedAt: queue.health.suspendedAt };
    this.options.states.watch(queue);
  }

  /** Continues with a queue that a predecessor had suspended, and last probed then; null: not lately. */
  recovered(queue: SubscriptionQueue, probedAt: number | null): void {
    this.options.metrics.suspendedChanged(1);
    const lastAt = probedAt ?? queue.health.suspendedAt ?? 0;
    const now = momentNow(this.options);
    const due = momentOfLog(lastAt + PROBE_EVERY_MS, PROBE_EVERY_MS, now);
    this.probeAfter(queue, Math.max(0, due.monotonicMs - now.monotonicMs));
  }

  close(): void {
    this.isClosed = true;
    for (const cancel of this.probes.values()) cancel();
    this.options.metrics.suspendedChanged(-this.probes.size);
    this.probes.clear();
  }

  private suspend(queue: SubscriptionQueue, how: AttemptOutcome): void {
    this.options.hold(queue);
    this.options.metrics.suspendedChanged(1);
    this.publish(queue, 'suspended', how, SUSPENDED);
    this.probeAfter(queue, PROBE_EVERY_MS);
  }

  private resume(queue: SubscriptionQueue, how: AttemptOutcome, reason: string): void {
    this.probes.get(queue)?.();
    if (this.probes.delete(queue)) this.options.metrics.suspendedChanged(-1);
    this.publish(queue, 'resumed', how, reason);
    this.options.release(queue);
  }

  private disable(queue: SubscriptionQueue, how: AttemptOutcome): void {
    const { failingSince } = queue.health;
    if (this.disabled.get(queue) === failingSince) return;
    this.disabled.set(queue, failingSince);
    // Published again after a restart, under the same id.
    this.publish(queue, 'disabled', how, DISABLED, failingSince);
  }

  private probeAfter(queue: SubscriptionQueue, delayMs: number): void {
    this.probes.get(queue)?.();

    const cancel = this.options.timers.after(delayMs, () => {
      this.probeAfter(queue, queue.first() === null ? NOTHING_TO_PROBE_MS : PROBE_EVERY_MS);
      this.probeNow(queue);
    });
    this.probes.set(queue, cancel);
  }

  private probeNow(queue: SubscriptionQueue): void {
    const subscription = this.options.directory.get(queue.subscriptionId);
    if (this.options.directory.isPaused(queue.subscriptionId)) return;
    if (subscription?.status === 'active' && subscription.onOutage === 'hold') this.options.probe(queue);
    else this.stopHolding(queue);
  }

  /** The subscription no longer has `onOutage: hold`, was disabled or deleted: its deliveries go on as usual, to their end. */
  private stopHolding(queue: SubscriptionQueue): void {
    queue.health = { ...queue.health, suspendedAt: null };
    this.options.states.watch(queue);
    const first = queue.first();
    const about = {
      isAccepted: false,
      isFailure: false,
      ended: momentNow(this.options),
      statusCode: null,
      errorCode: null,
    };
    const fleetId = this.options.directory.get(queue.subscriptionId)?.fleetId ?? first?.delivery.fleetId ?? '';
    const delivery = { eventId: first?.delivery.eventId ?? '', deliveryOffset: first?.offset ?? -1 };
    this.resume(queue, { ...about, ...delivery, fleetId }, 'deliveries are no longer held');
  }

  private publish(
    queue: SubscriptionQueue,
    type: string,
    how: AttemptOutcome,
    reason: string,
    since: number | null = null,
  ): void {
    const { subscriptionId } = queue;
    const { fleetId, eventId, deliveryOffset, statusCode, errorCode, ended } = how;
    const occurredAt = ended.epochMs;
    const id = operationId({ subscriptionId, type, about: String(since ?? occurredAt) });
    const delivery = deliveryOffset < 0 ? { eventId: null, deliveryOffset: null } : { eventId, deliveryOffset };
    this.options.log.publish({
      id,
      subscriptionId,
      fleetId,
      type,
      occurredAt,
      reason,
      ...delivery,
      statusCode,
      errorCode,
    });
  }
}
