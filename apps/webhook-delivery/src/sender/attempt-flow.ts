import { setMaxListeners } from 'node:events';
import type { WebhookAttempt } from '@waypost/contracts';
import { decideAttempt, deliveryFold, operationId } from '@waypost/domain';
import { createAbortGroup } from '@waypost/egress';
import { type StreamsLogger, type TaskContext, toError } from '@waypost/streams';
import type { AttemptRunner } from '../attempt/attempt-runner.js';
import type { DeliveryMetrics } from '../common/delivery-metrics.js';
import { createDueTimers, type DueTimers, type TimerPort } from '../common/timers.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { type AttemptLog, attemptRecord, type EndedAttempt } from './attempt-log.js';
import type { ConcurrencyLimiter, Lane, LimitedWork, SlotUse } from './concurrency-limiter.js';
import type { Outage } from './outage.js';
import { DeviceOrder, type PendingDelivery, type SubscriptionQueue } from './subscription-queue.js';

export interface AttemptFlowOptions {
  readonly context: TaskContext;
  readonly runner: AttemptRunner;
  readonly limiter: ConcurrencyLimiter;
  readonly timers: TimerPort;
  readonly metrics: DeliveryMetrics;
  readonly logger: StreamsLogger;
  readonly directory: Pick<SubscriptionDirectory, 'get'>;
  readonly log: AttemptLog;
  readonly outage: () => Outage;
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Called when the last attempt of a delivery is in the log. */
  readonly onFinished: (pending: PendingDelivery) => void;
}

/**
 * Takes each delivery of a partition through its attempts: wait until it is due, wait for a slot, attempt, decide, log
 * . An attempt is in the log before the next one of the same delivery starts, and before its slot is
 * released: a crash can repeat no more attempts than the concurrency limits allow in flight.
 */
export interface AttemptFlow {
  /** Starts with a delivery that was taken into memory. */
  begin(pending: PendingDelivery): void;
  /** Removes the waiting deliveries from the limiter and holds them. */
  hold(queue: SubscriptionQueue): void;
  release(queue: SubscriptionQueue): void;
  /** Makes one attempt of a held delivery, which counts only if it is accepted. */
  probe(queue: SubscriptionQueue): void;
  /** No attempt starts from now on. */
  stop(): void;
  abort(): void;
  /** Resolves when no attempt is in flight. */
  settled(): Promise<void>;
}

export function createAttemptFlow(options: AttemptFlowOptions): AttemptFlow {
  return new DeliveryAttempts(options);
}

class DeliveryAttempts implements AttemptFlow {
  private readonly dueTimers: DueTimers;
  /** Ends the waits before POSTs; the POSTs themselves are ended through the abort group. */
  private readonly controller = new AbortController();
  private readonly abortGroup = createAbortGroup();
  private readonly deviceOrder = new DeviceOrder();
  private readonly inFlight = new Set<PendingDelivery>();
  private whenSettled: (() => void)[] = [];
  isStopped = false;

  constructor(private readonly options: AttemptFlowOptions) {
    this.dueTimers = createDueTimers(options.timers, options.now);
    setMaxListeners(0, this.controller.signal); // one per attempt in flight
  }

  begin(pending: PendingDelivery): void {
    const subscription = this.options.directory.get(pending.delivery.subscriptionId);
    // A subscription that is not known yet may turn out to be strict.
    const isStrict = subscription === undefined || subscription.strictOrder;
    if (!isStrict || this.deviceOrder.enter(pending)) this.schedule(pending);
  }

  hold(queue: SubscriptionQueue): void {
    queue.isProbing = false;
    for (const work of this.options.limiter.lane(queue.subscriptionId).drain()) {
      if (work instanceof QueuedAttempt) work.pending.isHeld = true;
    }
  }

  release(queue: SubscriptionQueue): void {
    for (const { pending } of [...queue.unfinished.values()]) {
      if (!pending.isHeld) continue;
      pending.isHeld = false;
      this.schedule(pending);
    }
  }

  probe(queue: SubscriptionQueue): void {
    const pending = queue.nextProbe();
    if (this.isStopped || !pending || queue.isProbing) return;
    queue.isProbing = true;
    pending.isHeld = false;
    const lane = this.options.limiter.lane(queue.subscriptionId);
    lane.enqueue(new QueuedAttempt(pending, lane, this, true));
  }

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

  private schedule(pending: PendingDelivery): void {
    if (pending.dueAt <= this.options.now()) this.enqueue(pending);
    else
      this.dueTimers.at(pending.dueAt, () => {
        this.enqueue(pending);
      });
  }

  private enqueue(pending: PendingDelivery): void {
    if (pending.queue.isSuspended) {
      pending.isHeld = true;
      return;
    }
    const lane = this.options.limiter.lane(pending.delivery.subscriptionId);
    lane.enqueue(new QueuedAttempt(pending, lane, this, false));
  }

  /** Called by the limiter when a slot is free. */
  async run(pending: PendingDelivery, lane: Lane, isProbe: boolean): Promise<void> {
    if (this.isStopped || (pending.queue.isSuspended && !isProbe)) {
      pending.isHeld = !this.isStopped;
      lane.release('answered');
      return;
    }
    this.inFlight.add(pending);
    if (isProbe) pending.queue.isProbing = false;
    try {
      const ended = await this.attempt(pending);
      if (!ended) this.over(pending, lane, 'answered');
      else if (isProbe && ended.decision.outcome !== 'delivered') this.probeFailed(ended, lane);
      else this.record(ended, lane);
    } catch (error) {
      this.over(pending, lane, 'answered');
      this.options.context.fail(toError(error));
    }
  }

  private async attempt(pending: PendingDelivery): Promise<EndedAttempt | null> {
    const { context, runner, now, random } = this.options;
    const { delivery, progress, dueAt } = pending;
    if (!context.leaseValid() && !(await this.confirmsOwnership())) return null;
    const known = progress.type === 'pending' ? progress : null;
    const attempt = known?.nextAttempt ?? 1;
    const startedAt = now();
    const { abortGroup } = this;
    const { signal } = this.controller;
    const run = await runner.run({ delivery, attempt, startedAt, signal, abortGroup });
    if (run.type === 'aborted') return null;
    const endedAt = now();
    const { result, auth } = run;
    const unauthorizedBefore = known?.unauthorizedBefore ?? false;
    const decision = decideAttempt({ attempt, result, auth, unauthorizedBefore, endedAt, random: random() });
    if (decision.outcome !== 'delivered' && decision.renewToken) run.discardToken();
    return { pending, url: run.url, result, attempt, dueAt, startedAt, endedAt, decision };
  }

  /** A process that was paused must not POST what its successor has sent meanwhile: it asks the group first. */
  private confirmsOwnership(): Promise<boolean> {
    return this.options.context.confirmOwnership().then(
      () => !this.isStopped,
      () => false,
    );
  }

  private record(ended: EndedAttempt, lane: Lane): void {
    const { pending, endedAt } = ended;
    const record = attemptRecord(ended);
    this.report(record);
    this.options.log.append(record, (isDurable) => {
      if (isDurable) this.recorded(pending, record, endedAt);
      this.over(pending, lane, record.errorCode === 'timeout' ? 'too_slow' : 'answered');
    });
  }

  private recorded(pending: PendingDelivery, record: WebhookAttempt, endedAt: number): void {
    const { outcome } = record;
    this.updateHealth(pending.queue, record, endedAt);
    if (outcome === 'retrying') {
      this.retry(pending, record);
      return;
    }
    this.options.onFinished(pending);
    const next = this.deviceOrder.leave(pending);
    if (next) this.schedule(next);
  }

  private updateHealth(queue: SubscriptionQueue, record: WebhookAttempt, endedAt: number): void {
    const isAccepted = record.outcome === 'delivered';
    if (isAccepted && queue.health.failingSince === null) return;
    const { eventId, fleetId, deliveryOffset, statusCode, errorCode } = record;
    const details = { eventId, fleetId, deliveryOffset, statusCode, errorCode };
    this.options.outage().ended(queue, { ...details, isAccepted, endedAt });
  }

  private retry(pending: PendingDelivery, record: WebhookAttempt): void {
    pending.progress = deliveryFold(pending.progress, record);
    pending.dueAt = record.nextDueAt ?? record.startedAt;
    this.schedule(pending);
  }

  private probeFailed({ pending, result, endedAt, decision }: EndedAttempt, lane: Lane): void {
    const { delivery, offset: deliveryOffset, queue } = pending;
    const { subscriptionId, fleetId, eventId } = delivery;
    const statusCode = result.type === 'response' ? result.statusCode : null;
    const errorCode = result.type === 'error' ? result.errorCode : null;
    const details = { fleetId, eventId, deliveryOffset, statusCode, errorCode };
    const id = operationId({ subscriptionId, type: 'probed', about: String(endedAt) });
    const reason = 'the probe was not accepted';
    this.options.log.publish({ ...details, id, subscriptionId, type: 'probed', occurredAt: endedAt, reason });
    this.options.outage().ended(queue, { ...details, isAccepted: false, endedAt });
    // A permanent failure of this delivery says nothing about the others.
    if (decision.outcome === 'failed') queue.refusedProbes++;
    this.over(pending, lane, errorCode === 'timeout' ? 'too_slow' : 'answered');
    // It is held again, unless its queue was resumed meanwhile.
    this.schedule(pending);
  }

  private over(pending: PendingDelivery, lane: Lane, how: SlotUse): void {
    this.inFlight.delete(pending);
    lane.release(how);
    if (this.inFlight.size > 0) return;
    for (const resolve of this.whenSettled.splice(0)) resolve();
  }

  private report(record: WebhookAttempt): void {
    const { outcome, durationMs, decision } = record;
    this.options.metrics.attemptEnded({ outcome, durationMs, latenessMs: record.startedAt - record.dueAt });
    if (outcome === 'delivered') return;
    const { eventId, subscriptionId, fleetId, attempt, statusCode, errorCode, deliveryOffset } = record;
    const fields = { eventId, subscriptionId, attempt, outcome, decision, statusCode, errorCode, durationMs };
    this.options.logger[outcome === 'failed' ? 'info' : 'debug']('delivery_attempted', fields);
    if (decision !== 'attempts_exhausted') return;
    const id = operationId({ subscriptionId, type: 'exhausted', about: String(deliveryOffset) });
    const occurredAt = record.startedAt + durationMs;
    const reason = `none of ${String(attempt)} attempts was accepted`;
    const details = { fleetId, eventId, deliveryOffset, statusCode, errorCode };
    this.options.log.publish({ ...details, id, subscriptionId, type: 'exhausted', occurredAt, reason });
  }
}

class QueuedAttempt implements LimitedWork {
  constructor(
    readonly pending: PendingDelivery,
    private readonly lane: Lane,
    private readonly flow: DeliveryAttempts,
    private readonly isProbe: boolean,
  ) {}

  get isVoid(): boolean {
    return this.flow.isStopped;
  }

  run(): void {
    void this.flow.run(this.pending, this.lane, this.isProbe);
  }
}
