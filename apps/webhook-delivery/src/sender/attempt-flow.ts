import { setMaxListeners } from 'node:events';
import type { WebhookAttempt } from '@waypost/contracts';
import { decideAttempt, deliveryFold, operationId } from '@waypost/domain';
import { createAbortGroup } from '@waypost/egress';
import type { StreamsLogger, TaskContext } from '@waypost/streams';
import type { AttemptRunner } from '../attempt/attempt-runner.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import type { AttemptLog } from './attempt-log.js';
import { attemptRecord, type EndedAttempt } from './attempt-record.js';
import { DeviceOrder } from './device-order.js';
import { createDueTimers, type DueTimers, type TimerPort } from './due-timers.js';
import type { Outage } from './outage.js';
import type { PendingDelivery, SubscriptionQueue } from './subscription-queue.js';
import type { Lane, Turns } from './turns.js';

export interface AttemptFlowOptions {
  readonly context: TaskContext;
  readonly runner: AttemptRunner;
  readonly turns: Turns;
  readonly timers: TimerPort;
  readonly metrics: DeliveryMetrics;
  readonly logger: StreamsLogger;
  readonly directory: Pick<SubscriptionDirectory, 'get'>;
  readonly log: AttemptLog;
  readonly outage: () => Outage;
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The delivery's last attempt is in the log. */
  readonly onFinished: (pending: PendingDelivery) => void;
}

/**
 * The way of each delivery of a partition: wait until it is due, wait for a turn, attempt, log, decide.
 * An attempt is in the log before the next one of the same delivery starts, and before its turn ends: what a crash can
 * repeat stays within the caps of what is in flight.
 */
export interface AttemptFlow {
  /** A delivery that was taken in. */
  begin(pending: PendingDelivery): void;
  /** Takes out what waits for a turn. */
  hold(queue: SubscriptionQueue): void;
  release(queue: SubscriptionQueue): void;
  /** One attempt of the first held delivery, that counts only if it is accepted. */
  probe(queue: SubscriptionQueue): void;
  /** Nothing starts from now on. */
  stop(): void;
  abort(): void;
  /** Resolves when no attempt is in flight. */
  settled(): Promise<void>;
}

export const createAttemptFlow = (options: AttemptFlowOptions): AttemptFlow => new DeliveryAttempts(options);

class DeliveryAttempts implements AttemptFlow {
  private readonly dueTimers: DueTimers;
  /** For the waits of attempts; their POSTs, by far the most, are ended through the group. */
  private readonly controller = new AbortController();
  private readonly abortGroup = createAbortGroup();
  private readonly deviceOrder = new DeviceOrder();
  private readonly inFlight = new Set<PendingDelivery>();
  private whenSettled: (() => void)[] = [];
  isStopped = false;

  constructor(private readonly options: AttemptFlowOptions) {
    this.dueTimers = createDueTimers(options.timers, options.now);
    setMaxListeners(0, this.controller.signal); // one for each attempt in flight
  }

  begin(pending: PendingDelivery): void {
    const subscription = this.options.directory.get(pending.delivery.subscriptionId);
    // One that is not known yet may turn out to want it.
    const isStrict = subscription === undefined || subscription.strictOrder;
    if (!isStrict || this.deviceOrder.enter(pending)) this.schedule(pending);
  }

  hold(queue: SubscriptionQueue): void {
    queue.isProbing = false;
    for (const turn of this.options.turns.lane(queue.subscriptionId).drain()) {
      if (turn instanceof DeliveryTurn) turn.pending.isHeld = true;
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
    const lane = this.options.turns.lane(queue.subscriptionId);
    lane.enqueue(new DeliveryTurn(pending, lane, this, true));
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
    const lane = this.options.turns.lane(pending.delivery.subscriptionId);
    lane.enqueue(new DeliveryTurn(pending, lane, this, false));
  }

  /** A turn has come. */
  async run(pending: PendingDelivery, lane: Lane, isProbe: boolean): Promise<void> {
    if (this.isStopped || (pending.queue.isSuspended && !isProbe)) {
      pending.isHeld = !this.isStopped;
      lane.end('answered');
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
      this.options.context.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private async attempt(pending: PendingDelivery): Promise<EndedAttempt | null> {
    const { context, runner, now, random } = this.options;
    const { delivery, progress, dueAt } = pending;
    if (!context.leaseValid() && !(await this.isStillOurs())) return null;
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

  /** A process that was stopped for a while must not POST what its successor has sent meanwhile: it asks first. */
  private isStillOurs(): Promise<boolean> {
    return this.options.context.confirmOwnership().then(
      () => !this.isStopped,
      () => false,
    );
  }

  private record(ended: EndedAttempt, lane: Lane): void {
    const { pending, endedAt } = ended;
    const record = attemptRecord(ended);
    this.tell(record);
    this.options.log.append(record, (isDurable) => {
      if (isDurable) this.recorded(pending, record, endedAt);
      this.over(pending, lane, record.errorCode === 'timeout' ? 'too_slow' : 'answered');
    });
  }

  private recorded(pending: PendingDelivery, record: WebhookAttempt, endedAt: number): void {
    const { outcome } = record;
    this.noteHealth(pending.queue, record, endedAt);
    if (outcome === 'retrying') {
      this.retry(pending, record);
      return;
    }
    this.options.onFinished(pending);
    const next = this.deviceOrder.leave(pending);
    if (next) this.schedule(next);
  }

  private noteHealth(queue: SubscriptionQueue, record: WebhookAttempt, endedAt: number): void {
    const isAccepted = record.outcome === 'delivered';
    if (isAccepted && queue.health.failingSince === null) return;
    const { eventId, fleetId, deliveryOffset, statusCode, errorCode } = record;
    const about = { eventId, fleetId, deliveryOffset, statusCode, errorCode };
    this.options.outage().ended(queue, { ...about, isAccepted, endedAt });
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
    const about = { fleetId, eventId, deliveryOffset, statusCode, errorCode };
    const id = operationId({ subscriptionId, type: 'probed', about: String(endedAt) });
    const reason = 'the probe was not accepted';
    this.options.log.tell({ ...about, id, subscriptionId, type: 'probed', occurredAt: endedAt, reason });
    this.options.outage().ended(queue, { ...about, isAccepted: false, endedAt });
    // What is wrong with this one delivery says nothing of the others.
    if (decision.outcome === 'failed') queue.refusedProbes++;
    this.over(pending, lane, errorCode === 'timeout' ? 'too_slow' : 'answered');
    // Held again, unless its queue was resumed meanwhile.
    this.schedule(pending);
  }

  private over(pending: PendingDelivery, lane: Lane, how: 'answered' | 'too_slow'): void {
    this.inFlight.delete(pending);
    lane.end(how);
    if (this.inFlight.size > 0) return;
    for (const resolve of this.whenSettled.splice(0)) resolve();
  }

  private tell(record: WebhookAttempt): void {
    const { outcome, durationMs, decision } = record;
    this.options.metrics.attemptEnded({ outcome, durationMs, latenessMs: record.startedAt - record.dueAt });
    if (outcome === 'delivered') return;
    const { eventId, subscriptionId, fleetId, attempt, statusCode, errorCode, deliveryOffset } = record;
    const what = { eventId, subscriptionId, attempt, outcome, decision, statusCode, errorCode, durationMs };
    this.options.logger[outcome === 'failed' ? 'info' : 'debug']('delivery_attempted', what);
    if (decision !== 'attempts_exhausted') return;
    const id = operationId({ subscriptionId, type: 'exhausted', about: String(deliveryOffset) });
    const occurredAt = record.startedAt + durationMs;
    const reason = `none of ${String(attempt)} attempts was accepted`;
    const about = { fleetId, eventId, deliveryOffset, statusCode, errorCode };
    this.options.log.tell({ ...about, id, subscriptionId, type: 'exhausted', occurredAt, reason });
  }
}

class DeliveryTurn {
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
