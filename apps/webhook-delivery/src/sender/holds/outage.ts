import {
  concernsEndpoint,
  DISABLE_AFTER_DAYS,
  type EndpointHealth,
  healthAfter,
  healthSince,
  type HealthVerdict,
  HEALTHY,
  MAX_RETRY_DELAY_MS,
  operationId,
  PROBE_EVERY_MS,
  REPORT_FAILING_EVERY_MS,
  SUSPEND_AFTER_MS,
  type WebhookAttempt,
} from '@waypost/domain';
import type { DeliveryMetrics } from '../../metrics/delivery-metrics.js';
import { type Clocks, momentNow, momentOfLog } from '../../process/clocks.js';
import type { TimerPort } from '../../process/timers.js';
import type { DirectorySubscription, SubscriptionDirectory } from '../../subscriptions/subscription-directory.js';
import type { AttemptLog } from '../attempts/attempt-log.js';
import type { AttemptOutcome } from '../attempts/attempt-record.js';
import type { SubscriptionBacklog } from '../backlogs/subscription-backlog.js';
import type { RecoveredWait } from '../recovery/attempt-fold.js';
import type { StateRecords } from '../recovery/state-records.js';

export interface OutageOptions extends Clocks {
  readonly directory: Pick<SubscriptionDirectory, 'get' | 'isPaused'>;
  readonly log: Pick<AttemptLog, 'publish'>;
  readonly states: Pick<StateRecords, 'watch'>;
  readonly timers: TimerPort;
  readonly random: () => number;
  readonly metrics: Pick<DeliveryMetrics, 'suspendedChanged'>;
  readonly hold: (backlog: SubscriptionBacklog) => void;
  /** Called in log order. */
  readonly release: (backlog: SubscriptionBacklog) => void;
  /** @returns false: there is no delivery to probe with */
  readonly probe: (backlog: SubscriptionBacklog) => boolean;
}

interface OutageReport {
  readonly type: 'suspended' | 'resumed' | 'disabled';
  readonly reason: string;
  /** Reports with the same value have the same id, so they count once. Default: when the attempt ended. */
  readonly idOf?: number;
}

interface NextProbe {
  readonly dueMs: number;
  readonly cancel: () => void;
  /** The last probe found no delivery: the next one held is sent at once. */
  isMissed: boolean;
}

const SUSPENDED = `only failures for ${String(SUSPEND_AFTER_MS / 60_000)} minutes: deliveries are held until a probe is accepted`;
const DISABLED = `only failures for ${String(DISABLE_AFTER_DAYS)} days`;

/**
 * Watches the endpoints of a partition. It suspends a subscription with `onOutage: hold` after minutes of
 * failures only, probes it until an attempt is accepted, and reports an endpoint that has failed for days, so that the
 * subscription is disabled.
 */
export class Outage {
  private readonly probes = new Map<SubscriptionBacklog, NextProbe>();
  private isClosed = false;
  /** When it was last reported, monotonic. A disabled subscription gets no new deliveries, but its pending ones may still fail. */
  private readonly reportedMs = new WeakMap<SubscriptionBacklog, number>();

  constructor(private readonly options: OutageOptions) {}

  ended(backlog: SubscriptionBacklog, how: AttemptOutcome): void {
    // Attempts in flight may end after the close; the successor finds accepted ones in the log.
    if (this.isClosed) return;
    const subscription = this.options.directory.get(backlog.subscriptionId);
    if (!saysSomething(backlog, how, subscription)) return;
    // The backlog comes first: what follows reads from it whether it is held, and since when it fails.
    const { change, isDisableDue } = this.judge(backlog, how, subscription);
    if (change === 'suspended') this.suspend(backlog, how);
    // Comes after the suspension, which sets the first probe, since it only puts off the next one.
    if (how.retryAfterMs !== null) this.probeNoneBefore(backlog, how.ended.monotonicMs + how.retryAfterMs);
    if (change === 'resumed') this.resume(backlog, how, 'a probe was accepted');
    if (isDisableDue) this.disable(backlog, how);
  }

  /** Updates the health of the backlog. */
  private judge(
    backlog: SubscriptionBacklog,
    { isAccepted, isFailure, ended }: AttemptOutcome,
    subscription: DirectorySubscription | undefined,
  ): HealthVerdict {
    const { updatedAt = 0, onOutage = 'fail' } = subscription ?? {};
    const before = healthUnder(backlog, updatedAt);
    // The first failure starts its own time, which the verdict needs.
    if (before.failingSince === null) backlog.failingSinceMs = ended.monotonicMs;
    const failingForMs = ended.monotonicMs - backlog.failingSinceMs;
    const verdict = healthAfter(before, { isAccepted, isFailure, endedAt: ended.epochMs, failingForMs, onOutage });
    if (verdict.health !== backlog.health) this.options.states.watch(backlog);
    backlog.health = verdict.health;
    backlog.judgedUnder = updatedAt;
    return verdict;
  }

  /** Forgets the failures of a deleted subscription. If it is suspended, it is released as usual. */
  deleted(backlog: SubscriptionBacklog): void {
    if (backlog.health.failingSince === null) return;
    backlog.health = { ...HEALTHY, suspendedAt: backlog.health.suspendedAt };
    this.options.states.watch(backlog);
  }

  /** Continues a predecessor's suspension. @param wait null: no recent probe or Retry-After was found */
  recovered(backlog: SubscriptionBacklog, wait: RecoveredWait | null): void {
    this.options.metrics.suspendedChanged(1);
    const lastAt = wait?.probedAt ?? backlog.health.suspendedAt ?? 0;
    const now = momentNow(this.options);
    const due = momentOfLog(lastAt + PROBE_EVERY_MS, PROBE_EVERY_MS, now);
    const dueInMs = due.monotonicMs - now.monotonicMs;
    // Probes that came due while there was no sender must not start together now, and then every 15 s.
    this.probeAfter(backlog, dueInMs > 0 ? dueInMs : this.options.random() * PROBE_EVERY_MS);
    this.probeNoneBefore(backlog, momentOfLog(wait?.notBefore ?? 0, MAX_RETRY_DELAY_MS, now).monotonicMs);
  }

  /** Ends the outage if a predecessor's attempt has been accepted since. */
  endedBefore(backlog: SubscriptionBacklog, attempt: WebhookAttempt): void {
    const endedAt = attempt.startedAt + attempt.durationMs;
    const ended = { epochMs: endedAt, monotonicMs: this.options.monotonicMs() };
    this.ended(backlog, { ...attempt, isAccepted: true, isFailure: false, ended });
  }

  /** Call when a delivery, perhaps the only one, is held. */
  held(backlog: SubscriptionBacklog): void {
    if (this.probes.get(backlog)?.isMissed === true) this.probeAfter(backlog, 0);
  }

  /** Call when a probe starts, perhaps later than it was due. */
  probing(backlog: SubscriptionBacklog): void {
    if (this.probes.has(backlog)) this.probeAfter(backlog, PROBE_EVERY_MS);
  }

  close(): void {
    this.isClosed = true;
    for (const { cancel } of this.probes.values()) cancel();
    this.options.metrics.suspendedChanged(-this.probes.size);
    this.probes.clear();
  }

  private suspend(backlog: SubscriptionBacklog, how: AttemptOutcome): void {
    this.options.hold(backlog);
    this.options.metrics.suspendedChanged(1);
    this.publish(backlog, how, { type: 'suspended', reason: SUSPENDED });
    this.probeAfter(backlog, PROBE_EVERY_MS);
  }

  private resume(backlog: SubscriptionBacklog, how: AttemptOutcome, reason: string): void {
    this.probes.get(backlog)?.cancel();
    if (this.probes.delete(backlog)) this.options.metrics.suspendedChanged(-1);
    // The log must say that it resumes before the attempts that follow.
    this.publish(backlog, how, { type: 'resumed', reason });
    this.options.release(backlog);
  }

  private disable(backlog: SubscriptionBacklog, how: AttemptOutcome): void {
    const { failingSince } = backlog.health;
    const atMs = how.ended.monotonicMs;
    if (atMs - (this.reportedMs.get(backlog) ?? -Infinity) < REPORT_FAILING_EVERY_MS) return;
    this.reportedMs.set(backlog, atMs);
    // The id stays the same each time, even after a restart.
    this.publish(backlog, how, { type: 'disabled', reason: DISABLED, idOf: failingSince ?? how.ended.epochMs });
  }

  private probeAfter(backlog: SubscriptionBacklog, delayMs: number): void {
    this.probes.get(backlog)?.cancel();
    const dueMs = this.options.monotonicMs() + delayMs;
    const cancel = this.options.timers.after(delayMs, () => {
      this.probeAfter(backlog, PROBE_EVERY_MS);
      this.probeNow(backlog);
    });
    this.probes.set(backlog, { dueMs, cancel, isMissed: false });
  }

  /** a probe respects a `Retry-After` too. */
  private probeNoneBefore(backlog: SubscriptionBacklog, endMs: number): void {
    const next = this.probes.get(backlog);
    if (next && next.dueMs < endMs) this.probeAfter(backlog, endMs - this.options.monotonicMs());
  }

  private probeNow(backlog: SubscriptionBacklog): void {
    const subscription = this.options.directory.get(backlog.subscriptionId);
    if (this.options.directory.isPaused(backlog.subscriptionId)) return;
    if (subscription?.status !== 'active' || subscription.onOutage !== 'hold') {
      this.stopHolding(backlog);
      return;
    }
    const next = this.probes.get(backlog);
    if (!this.options.probe(backlog) && next) next.isMissed = true;
  }

  /** Stops holding: the subscription no longer has `onOutage: hold`, or was disabled or deleted. Its deliveries go on as usual. */
  private stopHolding(backlog: SubscriptionBacklog): void {
    backlog.health = { ...backlog.health, suspendedAt: null };
    this.options.states.watch(backlog);
    const first = backlog.first();
    const about = {
      isAccepted: false,
      isFailure: false,
      ended: momentNow(this.options),
      statusCode: null,
      errorCode: null,
      retryAfterMs: null,
    };
    const fleetId = this.options.directory.get(backlog.subscriptionId)?.fleetId ?? first?.delivery.fleetId ?? '';
    const delivery = { eventId: first?.delivery.eventId ?? '', deliveryOffset: first?.offset ?? -1 };
    this.resume(backlog, { ...about, ...delivery, fleetId }, 'deliveries are no longer held');
  }

  private publish(backlog: SubscriptionBacklog, how: AttemptOutcome, report: OutageReport): void {
    const { subscriptionId } = backlog;
    const { fleetId, eventId, deliveryOffset, statusCode, errorCode, ended } = how;
    const { type, reason, idOf = ended.epochMs } = report;
    const hasDelivery = deliveryOffset >= 0;
    this.options.log.publish({
      id: operationId({ subscriptionId, type, about: String(idOf) }),
      subscriptionId,
      fleetId,
      type,
      occurredAt: ended.epochMs,
      reason,
      eventId: hasDelivery ? eventId : null,
      deliveryOffset: hasDelivery ? deliveryOffset : null,
      statusCode,
      errorCode,
    });
  }
}

/** Whether the attempt says anything about the endpoint that changes what is known of it. */
function saysSomething(
  { health, isSuspended }: SubscriptionBacklog,
  { isAccepted, errorCode }: AttemptOutcome,
  subscription: DirectorySubscription | undefined,
): boolean {
  if (isAccepted) return health.failingSince !== null || isSuspended;
  // Without a subscription, the attempt was in flight when it was deleted.
  return concernsEndpoint(errorCode) && subscription !== undefined;
}

/**
 * the health without failures from before a change of the subscription. `updatedAt` comes from another machine's
 * clock, so it is compared only with a predecessor's failures: if our clock is behind, every failure would look older
 * than the change.
 */
function healthUnder({ health, judgedUnder }: SubscriptionBacklog, updatedAt: number): EndpointHealth {
  if (judgedUnder === null) return healthSince(health, updatedAt);
  return judgedUnder === updatedAt ? health : { ...HEALTHY, suspendedAt: health.suspendedAt };
}
