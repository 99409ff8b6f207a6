import { setMaxListeners } from 'node:events';
import { decideAttempt, decideProbe, deliveryFold, type WebhookAttempt } from '@waypost/domain';
import { createAbortGroup } from '@waypost/egress';
import type { StreamsLogger, TaskContext } from '@waypost/streams';
import { toError } from '@waypost/streams/admin';
import type { DeliveryMetrics } from '../../metrics/delivery-metrics.js';
import { type Clocks, type Moment, momentAfter, momentNow } from '../../process/clocks.js';
import { createDueTimers, type DueTimers, type TimerPort } from '../../process/timers.js';
import type { AttemptRunner } from '../../single-attempt/attempt-runner.js';
import type { SubscriptionDirectory } from '../../subscriptions/subscription-directory.js';
import type { PendingDelivery, SubscriptionBacklog } from '../backlogs/subscription-backlog.js';
import type { DeliveryScheduler } from '../scheduling/delivery-scheduler.js';
import type { BegunDelivery } from '../scheduling/lane.js';
import type { AttemptLog } from './attempt-log.js';
import { type AttemptOutcome, attemptRecord, type EndedAttempt, expiredRecord } from './attempt-record.js';
import { publishAttempt, reportAttempt } from './attempt-reports.js';
import type { AttemptTracer } from './attempt-trace.js';
import { DeviceOrder } from './device-order.js';
import type { RetentionClock } from './retention-clock.js';
import { WaitingAttempt } from './waiting-attempt.js';

export interface AttemptFlowOptions extends Clocks {
  readonly context: Pick<TaskContext, 'leaseValid' | 'confirmOwnership' | 'fail'>;
  readonly runner: AttemptRunner;
  readonly scheduler: Pick<DeliveryScheduler, 'lane' | 'drain'>;
  readonly timers: TimerPort;
  readonly metrics: Pick<DeliveryMetrics, 'attemptEnded' | 'deliveryExpired'>;
  readonly logger: StreamsLogger;
  readonly directory: Pick<SubscriptionDirectory, 'get'>;
  readonly log: Pick<AttemptLog, 'append' | 'publish'>;
  readonly tracer: AttemptTracer;
  readonly retention: Pick<RetentionClock, 'isTooOld'>;
  /** Called when a delivery is held. */
  readonly onHeld: (backlog: SubscriptionBacklog) => void;
  readonly onProbe: (backlog: SubscriptionBacklog) => void;
  /** Called with every result that may affect the health of the endpoint. */
  readonly onOutcome: (backlog: SubscriptionBacklog, outcome: AttemptOutcome) => void;
  /** Whether the deliveries that predecessors began have their reservations. */
  readonly hasResumed: () => boolean;
  readonly random: () => number;
  /** Called when the last attempt of the delivery is in the log. */
  readonly onFinished: (pending: PendingDelivery) => void;
}

type MadeAttempt =
  | { readonly type: 'ended'; readonly attempt: EndedAttempt }
  | { readonly type: 'aborted' }
  | { readonly type: 'paused' };

/**
 * Takes each delivery of a partition through its attempts: wait until the scheduler begins it, attempt, decide, log,
 * and again when the next attempt is due. An attempt is in the log before the next one of the same
 * delivery starts, and before its reservation is released, so a crash repeats no more attempts than reservations.
 */
export class AttemptFlow {
  private readonly dueTimers: DueTimers;
  /** Ends the waits before POSTs; the abort group ends the POSTs themselves. */
  private readonly controller = new AbortController();
  private readonly abortGroup = createAbortGroup();
  private readonly deviceOrder = new DeviceOrder();
  private readonly inFlight = new Set<PendingDelivery>();
  private readonly sending = new Set<PendingDelivery>();
  private whenSettled: (() => void)[] = [];
  private confirming: Promise<boolean> | null = null;
  isStopped = false;

  constructor(private readonly options: AttemptFlowOptions) {
    this.dueTimers = createDueTimers(options.timers, options.monotonicMs);
    setMaxListeners(0, this.controller.signal); // one per attempt in flight
  }

  /** Starts with a delivery that was taken into memory. */
  begin(pending: PendingDelivery): void {
    if (this.isTooOld(pending)) {
      this.recordExpired(pending);
      return;
    }
    // A subscription that is not known yet may turn out to be strict.
    if (!this.isStrict(pending.backlog, true) || this.deviceOrder.enter(pending)) this.schedule(pending);
  }

  /** Disabled subscriptions are never strict: their deliveries end without requests. */
  private isStrict({ subscriptionId }: SubscriptionBacklog, ifUnknown: boolean): boolean {
    const subscription = this.options.directory.get(subscriptionId);
    return subscription ? subscription.strictOrder && subscription.status !== 'disabled' : ifUnknown;
  }

  /** Keeps the backlog from beginning deliveries. A delivery that waits for its retry is held when that is due. */
  hold(backlog: SubscriptionBacklog): void {
    for (const pending of this.drain(backlog)) pending.isHeld = true;
  }

  release(backlog: SubscriptionBacklog): void {
    backlog.releasedAt = momentNow(this.options);
    // A probe that still waits in its lane becomes an ordinary attempt, after which none would ask for another.
    backlog.isProbing = false;
    for (const { pending } of [...backlog.unfinished.values()]) {
      if (!pending.isHeld) continue;
      pending.isHeld = false;
      if (pending.due.monotonicMs > this.options.monotonicMs()) this.schedule(pending);
      else this.enqueue(pending);
    }
  }

  /** Re-evaluates strict ordering after a subscription change. */
  orderChanged(backlog: SubscriptionBacklog): void {
    const unfinished = [...backlog.unfinished.values()].map(({ pending }) => pending);
    // An unknown subscription was deleted: its remaining deliveries end without requests.
    if (!this.isStrict(backlog, false))
      for (const pending of this.deviceOrder.dissolve(unfinished)) this.schedule(pending);
    else if (!unfinished.every((pending) => this.deviceOrder.has(pending))) this.order(backlog, unfinished);
  }

  /** Deliveries that have begun continue. The others wait for the earlier events of their device. */
  private order(backlog: SubscriptionBacklog, unfinished: readonly PendingDelivery[]): void {
    const waiting = this.drain(backlog);
    for (const pending of unfinished) {
      if (this.deviceOrder.has(pending)) continue;
      if (pending.begun !== null || this.inFlight.has(pending)) this.deviceOrder.enterAhead(pending);
      else if (!this.deviceOrder.enter(pending)) {
        waiting.delete(pending);
        pending.isHeld = false;
      }
    }
    for (const pending of unfinished) if (waiting.has(pending)) this.enqueue(pending);
  }

  /** Takes the waiting deliveries out of their lane. For a suspended backlog, that is the probe. */
  private drain(backlog: SubscriptionBacklog): Set<PendingDelivery> {
    const drained = this.options.scheduler.drain(backlog.subscriptionId);
    if (drained.length > 0) backlog.isProbing = false;
    return new Set(drained.flatMap((waiting) => (waiting instanceof WaitingAttempt ? waiting.pending : [])));
  }

  /**
   * Sends a held delivery outside its five attempts, once it has a reservation: thousands of subscriptions may
   * be suspended.
   * @returns false: no delivery is held
   */
  probe(backlog: SubscriptionBacklog): boolean {
    if (this.isStopped || backlog.isProbing) return true;
    const pending = backlog.nextProbe();
    if (!pending) return false;
    backlog.isProbing = true;
    pending.isHeld = false;
    this.waitInLane(pending);
    return true;
  }

  /** Ends the first delivery of a held backlog if it is older than the history. */
  expire(backlog: SubscriptionBacklog): void {
    const pending = backlog.nextProbe();
    if (this.isStopped || backlog.isProbing || !pending || !this.isTooOld(pending)) return;
    pending.isHeld = false;
    this.recordExpired(pending);
  }

  /** Takes a delivery that is not in flight out of memory; its backlog will read it from the log again. */
  withdraw(pending: PendingDelivery): void {
    this.end(pending);
    this.deviceOrder.withdraw(pending);
  }

  /** Prevents new attempts. */
  stop(): void {
    this.isStopped = true;
    this.dueTimers.clear();
  }

  abort(): void {
    this.controller.abort();
    this.abortGroup.abort();
  }

  settled(): Promise<void> {
    if (this.inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.whenSettled.push(resolve));
  }

  /** Whether the attempt has started and is not in the log yet. */
  isSending(pending: PendingDelivery): boolean {
    return this.sending.has(pending);
  }

  /**
   * A delivery that was begun continues when it is due; any other waits until it may begin. So does one that came due
   * during a hold, which gave its reservation to others.
   */
  private schedule(pending: PendingDelivery): void {
    const { backlog, progress, due } = pending;
    const lostItsPlace = pending.begun === null && backlog.isDueByRelease(due);
    if (progress.type !== 'pending' || backlog.isHeld || lostItsPlace) {
      this.enqueue(pending);
      return;
    }
    this.resume(pending);
    // The retry may already be due, after slow logging or a restart. That wait is not lateness.
    const onTimeMs = Math.max(due.monotonicMs, this.options.monotonicMs());
    this.dueTimers.at(due.monotonicMs, () => this.retry(pending, onTimeMs));
  }

  private enqueue(pending: PendingDelivery): void {
    if (pending.backlog.isHeld) {
      pending.isHeld = true;
      this.end(pending);
      this.options.onHeld(pending.backlog);
    } else this.waitInLane(pending);
  }

  private waitInLane(pending: PendingDelivery): void {
    this.options.scheduler.lane(pending.delivery.subscriptionId).enqueue(new WaitingAttempt(pending, this));
  }

  private resume(pending: PendingDelivery): void {
    pending.begun ??= this.options.scheduler.lane(pending.delivery.subscriptionId).resume();
  }

  /**
   * Called by the scheduler. First attempts wait in their lane while another process may own the partition: what waited
   * elsewhere would start out of order and beyond its rate once the group has answered.
   */
  mayBegin(): boolean {
    if (!this.options.hasResumed()) return false;
    if (this.options.context.leaseValid()) return true;
    void this.confirmsOwnership();
    return false;
  }

  start(pending: PendingDelivery, begun: BegunDelivery): void {
    pending.begun = begun;
    // A delivery becomes due when it begins, after its wait in the log or here.
    pending.due = momentNow(this.options);
    const isProbe = pending.backlog.isSuspended;
    if (isProbe) this.options.onProbe(pending.backlog);
    void this.run(pending, isProbe);
  }

  /** @param onTimeMs the earliest time at which it could start */
  private retry(pending: PendingDelivery, onTimeMs: number): void {
    if (pending.begun === null) return; // withdrawn in the meantime
    if (pending.backlog.isHeld) {
      this.enqueue(pending);
      return;
    }
    pending.begun.retryStarts(this.options.monotonicMs() - onTimeMs);
    void this.run(pending, false);
  }

  private async run(pending: PendingDelivery, isProbe: boolean): Promise<void> {
    this.inFlight.add(pending);
    pending.backlog.inFlight++;
    try {
      const made = await this.attempt(pending, isProbe);
      if (made.type === 'ended') this.record(made.attempt);
      else this.notMade(pending, made.type, isProbe);
    } catch (error) {
      this.over(pending);
      this.options.context.fail(toError(error));
    }
  }

  private async attempt(pending: PendingDelivery, isProbe: boolean): Promise<MadeAttempt> {
    const { context, runner, random, tracer } = this.options;
    const { delivery, tracestate, progress, due } = pending;
    if (!context.leaseValid() && !(await this.confirmsOwnership())) return { type: 'aborted' };
    this.sending.add(pending);
    const known = progress.type === 'pending' ? progress : null;
    const attempt = known?.nextAttempt ?? 1;
    const started = momentNow(this.options);
    const traceparent = tracer.contextOf(pending);
    const request = { delivery, traceparent, tracestate, attempt, started };
    const run = await runner.run({ ...request, signal: this.controller.signal, abortGroup: this.abortGroup });
    if (run.type !== 'ended') return run;
    // Derived from the start's clock so that start, duration and next due time agree in the log.
    const ended = momentAfter(started, Math.round(this.options.monotonicMs() - started.monotonicMs));
    const endedAt = ended.epochMs;
    const { result, auth } = run;
    const unauthorizedBefore = known?.unauthorizedBefore ?? false;
    const finished = { result, auth, unauthorizedBefore, endedAt, random: random() };
    const decision = isProbe ? decideProbe(finished, started.epochMs) : decideAttempt({ ...finished, attempt });
    if (decision.outcome !== 'delivered' && decision.renewToken) run.discardToken();
    const { url } = run;
    const made = { pending, traceparent, url, result, attempt, isProbe, due, started, ended, decision };
    return { type: 'ended', attempt: made };
  }

  /** A process that was paused must not POST what its successor has already sent, so it asks the group first. */
  private confirmsOwnership(): Promise<boolean> {
    this.confirming ??= this.options.context
      .confirmOwnership()
      .then(
        () => !this.isStopped,
        () => false,
      )
      .finally(() => {
        this.confirming = null;
      });
    return this.confirming;
  }

  private record(made: EndedAttempt): void {
    const { pending, traceparent, ended } = made;
    const record = attemptRecord(made);
    const { retryAfterMs } = record;
    if (retryAfterMs !== null)
      this.options.scheduler.lane(record.subscriptionId).beginNoneBefore(ended.monotonicMs + retryAfterMs);
    // Must follow the hold: the free slot begins the next delivery at once.
    pending.begun?.answered();
    reportAttempt(record, this.options);
    this.options.tracer.ended(pending, traceparent, record);
    this.options.log.append(record, traceparent, (isDurable) => {
      // Must come first: a retry that is due by now starts at once, and is in flight itself.
      this.settle(pending);
      if (isDurable) this.recorded(pending, record, ended);
    });
  }

  private recorded(pending: PendingDelivery, record: WebhookAttempt, ended: Moment): void {
    if (record.probe) pending.backlog.isProbing = false;
    this.updateHealth(pending.backlog, record, ended);
    if (record.outcome === 'retrying') {
      pending.progress = deliveryFold(pending.progress, record);
      if (record.probe) {
        this.probeFailed(pending, record, ended.epochMs);
        return;
      }
      pending.due = momentAfter(ended, (record.nextDueAt ?? ended.epochMs) - ended.epochMs);
      this.schedule(pending);
      return;
    }
    this.end(pending);
    this.options.onFinished(pending);
    const next = this.deviceOrder.leave(pending);
    if (next) this.schedule(next);
  }

  /** Checked before the log deletes the delivery, so that it never disappears without a record. */
  private isTooOld({ appendedAt }: PendingDelivery): boolean {
    return this.options.retention.isTooOld(appendedAt);
  }

  private recordExpired(pending: PendingDelivery): void {
    const { backlog } = pending;
    const now = momentNow(this.options);
    const record = expiredRecord(pending, now, this.options.directory.get(backlog.subscriptionId)?.url ?? '');
    this.inFlight.add(pending);
    backlog.inFlight++;
    backlog.expiring++;
    this.options.metrics.deliveryExpired();
    this.options.log.append(record, null, (isDurable) => {
      backlog.expiring--;
      this.settle(pending);
      if (isDurable) this.recorded(pending, record, now);
    });
  }

  private updateHealth(backlog: SubscriptionBacklog, record: WebhookAttempt, ended: Moment): void {
    const isAccepted = record.outcome === 'delivered';
    if (isAccepted && backlog.health.failingSince === null && !backlog.isSuspended) return;
    const { eventId, fleetId, deliveryOffset, statusCode, errorCode, retryAfterMs } = record;
    const details = { eventId, fleetId, deliveryOffset, statusCode, errorCode, retryAfterMs };
    this.options.onOutcome(backlog, { ...details, isAccepted, isFailure: record.outcome === 'failed', ended });
  }

  /** Holds the delivery again, unless its backlog has been released. */
  private probeFailed(pending: PendingDelivery, record: WebhookAttempt, endedAt: number): void {
    const reason = 'the probe was not accepted';
    publishAttempt(this.options.log, record, { type: 'probed', about: String(endedAt), occurredAt: endedAt, reason });
    this.end(pending);
    this.enqueue(pending);
  }

  /** The attempt does not count: a successor makes it, or this process when the subscription is no longer paused. */
  private notMade(pending: PendingDelivery, why: 'aborted' | 'paused', isProbe: boolean): void {
    if (isProbe) pending.backlog.isProbing = false;
    this.over(pending);
    if (why === 'paused' && !this.isStopped) this.schedule(pending);
  }

  /** Ends an attempt without a record. */
  private over(pending: PendingDelivery): void {
    this.end(pending);
    this.settle(pending);
  }

  private end(pending: PendingDelivery): void {
    pending.begun?.end();
    pending.begun = null;
  }

  private settle(pending: PendingDelivery): void {
    this.inFlight.delete(pending);
    this.sending.delete(pending);
    pending.backlog.inFlight--;
    if (this.inFlight.size > 0) return;
    for (const resolve of this.whenSettled.splice(0)) resolve();
  }
}
