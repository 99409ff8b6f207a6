import { healthAfter, operationId, PROBE_EVERY_MS, type EndpointHealth } from '@waypost/domain';
import type { WebhookAttempt } from '@waypost/contracts';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import type { AttemptLog } from './attempt-log.js';
import type { TimerPort } from './due-timers.js';
import type { StateRecords } from './state-records.js';
import type { SubscriptionQueue } from './subscription-queue.js';

export interface OutageOptions {
  readonly directory: Pick<SubscriptionDirectory, 'get'>;
  readonly log: AttemptLog;
  readonly states: StateRecords;
  readonly timers: TimerPort;
  readonly metrics: DeliveryMetrics;
  readonly now: () => number;
  /** Takes out what waits for its turn: it is held from now on. */
  readonly hold: (queue: SubscriptionQueue) => void;
  /** Lets go what was held, in the order of the log. */
  readonly release: (queue: SubscriptionQueue) => void;
  /** Sends the first held delivery; does nothing while there is none. */
  readonly probe: (queue: SubscriptionQueue) => void;
}

/** What an attempt or a probe came to. */
export type Ended = Pick<WebhookAttempt, 'eventId' | 'statusCode' | 'errorCode' | 'fleetId'> & {
  readonly deliveryOffset: number;
  readonly isAccepted: boolean;
  readonly endedAt: number;
};

/**
 * Watches the endpoints of a partition: suspends a subscription that holds after minutes of nothing but failures,
 * probes it until an attempt is accepted, and tells when one has failed for days, so that it is disabled.
 */
export interface Outage {
  ended(queue: SubscriptionQueue, how: Ended): void;
  /** A queue that a predecessor had suspended. */
  recovered(queue: SubscriptionQueue): void;
  close(): void;
}

/** What says nothing about the endpoint. */
const OUR_FAULTS = new Set<string | null>(['secret_unreadable', 'subscription_deleted', 'subscription_unknown']);

/** Failures from before its owner changed a subscription, or enabled it again, do not count against it. */
const sinceLastChange = (health: EndpointHealth, updatedAt: number): EndpointHealth =>
  health.failingSince !== null && health.failingSince < updatedAt ? { ...health, failingSince: null } : health;

export const createOutage = (options: OutageOptions): Outage => new OutageWatch(options);

class OutageWatch implements Outage {
  private readonly probes = new Map<SubscriptionQueue, () => void>();
  private isClosed = false;
  /** Told already; a disabled subscription gets no new deliveries, but those that it has may still fail. */
  private readonly disabled = new WeakSet<EndpointHealth>();

  constructor(private readonly options: OutageOptions) {}

  ended(queue: SubscriptionQueue, how: Ended): void {
    // What is in flight ends after the close: the successor learns what follows from it by itself.
    if (this.isClosed) return;
    if (!how.isAccepted && OUR_FAULTS.has(how.errorCode)) return;
    const subscription = this.options.directory.get(queue.subscriptionId);
    const before = sinceLastChange(queue.health, subscription?.updatedAt ?? 0);
    if (how.isAccepted && queue.health.failingSince === null) return;
    const { isAccepted, endedAt } = how;
    const onOutage = subscription?.onOutage ?? 'fail';
    const { health, change, isDisableDue } = healthAfter(before, { isAccepted, endedAt, onOutage });
    if (health !== queue.health) this.options.states.watch(queue);
    queue.health = health;
    if (change === 'suspended') this.suspend(queue, how);
    if (change === 'resumed') this.resume(queue, how, 'a probe was accepted');
    if (isDisableDue) this.disable(queue, how);
  }

  recovered(queue: SubscriptionQueue): void {
    this.options.metrics.suspendedChanged(1);
    this.probeAfter(queue, 0);
  }

  close(): void {
    this.isClosed = true;
    for (const cancel of this.probes.values()) cancel();
    this.options.metrics.suspendedChanged(-this.probes.size);
    this.probes.clear();
  }

  private suspend(queue: SubscriptionQueue, how: Ended): void {
    this.options.hold(queue);
    this.options.metrics.suspendedChanged(1);
    this.tell(queue, 'suspended', how, 'nothing but failures for 5 minutes: deliveries wait until a probe is accepted');
    this.probeAfter(queue, PROBE_EVERY_MS);
  }

  private resume(queue: SubscriptionQueue, how: Ended, reason: string): void {
    this.probes.get(queue)?.();
    if (this.probes.delete(queue)) this.options.metrics.suspendedChanged(-1);
    this.tell(queue, 'resumed', how, reason);
    this.options.release(queue);
  }

  private disable(queue: SubscriptionQueue, how: Ended): void {
    if (this.disabled.has(queue.health)) return;
    this.disabled.add(queue.health);
    // Told again after a restart, under the same id.
    this.tell(queue, 'disabled', how, 'nothing but failures for 7 days', queue.health.failingSince);
  }

  private probeAfter(queue: SubscriptionQueue, delayMs: number): void {
    this.probes.get(queue)?.();

    const cancel = this.options.timers.after(delayMs, () => {
      this.probeAfter(queue, PROBE_EVERY_MS);
      this.probeNow(queue);
    });
    this.probes.set(queue, cancel);
  }

  private probeNow(queue: SubscriptionQueue): void {
    const subscription = this.options.directory.get(queue.subscriptionId);
    if (subscription?.status === 'disabled') return;
    if (subscription?.onOutage === 'hold') this.options.probe(queue);
    else this.giveUpHolding(queue);
  }

  /** Its owner does not want deliveries to be held any more, or has deleted it: they go their way. */
  private giveUpHolding(queue: SubscriptionQueue): void {
    queue.health = { failingSince: queue.health.failingSince, suspendedAt: null };
    this.options.states.watch(queue);
    const first = queue.first();
    const about = { isAccepted: false, endedAt: this.options.now(), statusCode: null, errorCode: null };
    const fleetId = this.options.directory.get(queue.subscriptionId)?.fleetId ?? first?.delivery.fleetId ?? '';
    const delivery = { eventId: first?.delivery.eventId ?? '', deliveryOffset: first?.offset ?? -1 };
    this.resume(queue, { ...about, ...delivery, fleetId }, 'deliveries are no longer held');
  }

  private tell(queue: SubscriptionQueue, type: string, how: Ended, reason: string, since: number | null = null): void {
    const { subscriptionId } = queue;
    const { fleetId, eventId, deliveryOffset, statusCode, errorCode, endedAt: occurredAt } = how;
    const id = operationId({ subscriptionId, type, about: String(since ?? occurredAt) });
    const delivery = deliveryOffset < 0 ? { eventId: null, deliveryOffset: null } : { eventId, deliveryOffset };
    this.options.log.tell({
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
