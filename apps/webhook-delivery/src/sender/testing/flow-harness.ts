import {
  type AttemptResult,
  DELIVERY_UNSTARTED,
  type DeliveryProgress,
  HEALTHY,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@waypost/domain';
import { NO_TRACES } from '@waypost/platform/testing';
import { silentLogger } from '@waypost/streams';
import type { AttemptRequest, AttemptRun } from '../../single-attempt/attempt-runner.js';
import { AttemptFlow } from '../attempts/attempt-flow.js';
import type { AttemptOutcome } from '../attempts/attempt-record.js';
import { createAttemptTracer } from '../attempts/attempt-trace.js';
import type { WaitingAttempt } from '../attempts/waiting-attempt.js';
import { type PendingDelivery, SubscriptionBacklog } from '../backlogs/subscription-backlog.js';
import type { BegunDelivery, QueuedDelivery } from '../scheduling/lane.js';
import { ManualClock } from './manual-clock.js';
import { aDelivery, aSubscription } from './sender-samples.js';

export const EPOCH = Date.UTC(2026, 2, 20, 12);

interface Sent {
  readonly request: AttemptRequest;
  /** What became of it; a result is a response, an error a bug. */
  readonly ends: (how: AttemptEnd) => void;
}

type AttemptEnd = AttemptResult | 'paused' | 'aborted' | Error;

/** The attempts of one subscription, each step of which the test takes: to begin, to respond, to write the log. */
export class FlowHarness {
  readonly clock = new ManualClock(1_000);
  readonly backlog = new SubscriptionBacklog('subscription-1');
  subscription: WebhookSubscription | undefined = aSubscription('subscription-1');
  readonly sent: Sent[] = [];
  readonly written: WebhookAttempt[] = [];
  readonly outcomes: AttemptOutcome[] = [];
  readonly finished: PendingDelivery[] = [];
  /** Deliveries that are older than the history. */
  readonly tooOld = new Set<string>();
  /** Reservations in use. */
  reserved = 0;
  isOwner = true;
  /** How often the group was asked. */
  asked = 0;
  onFailure = (error: Error): void => {
    throw error;
  };
  readonly flow: AttemptFlow;
  private readonly lane: QueuedDelivery[] = [];
  private readonly unwritten: ((isDurable: boolean) => void)[] = [];

  constructor() {
    this.flow = new AttemptFlow({
      context: {
        leaseValid: () => this.isOwner,
        confirmOwnership: () => this.confirmOwnership(),
        fail: (error) => {
          this.onFailure(error);
        },
      },
      runner: { run: (request) => this.run(request) },
      scheduler: {
        lane: () => ({
          enqueue: (delivery) => this.lane.push(delivery),
          resume: () => this.reserve(),
          beginNoneBefore: () => undefined,
        }),
        drain: () => this.lane.splice(0),
      },
      log: {
        append: (record, _traceparent, settled) => {
          this.written.push(record);
          this.unwritten.push(settled);
        },
        publish: () => undefined,
      },
      timers: this.clock,
      metrics: { attemptEnded: () => undefined, deliveryExpired: () => undefined },
      logger: silentLogger,
      directory: { get: () => this.subscription },
      tracer: createAttemptTracer(NO_TRACES),
      retention: { isTooOld: (appendedAt) => this.tooOld.has(`event-${String(appendedAt)}`) },
      onHeld: () => undefined,
      onProbe: () => undefined,
      onOutcome: (_, outcome) => this.outcomes.push(outcome),
      onFinished: (pending) => {
        this.backlog.unfinished.delete(pending.offset);
        this.finished.push(pending);
      },
      hasResumed: () => true,
      random: () => 0,
      nowMs: () => EPOCH + this.clock.atMs,
      monotonicMs: this.clock.monotonicMs,
    });
  }

  /** A delivery comes into memory. */
  take(n: number, fields: Partial<WebhookDelivery> = {}, progress: DeliveryProgress = DELIVERY_UNSTARTED) {
    const { backlog } = this;
    const dueMs = progress.type === 'pending' ? progress.dueAt - EPOCH : this.clock.atMs;
    const due = { epochMs: EPOCH + dueMs, monotonicMs: dueMs };
    const delivery = { ...aDelivery(n), ...fields };
    const about = { offset: n, appendedAt: n, traceparent: null, tracestate: null, isHeld: false, begun: null };
    const pending: PendingDelivery = { backlog, delivery, progress, due, ...about };
    backlog.unfinished.set(n, { pending, foldFrom: 0, sinceMs: this.clock.atMs });
    this.flow.begin(pending);
    return pending;
  }

  suspend(): void {
    this.backlog.health = { ...HEALTHY, failingSince: EPOCH, suspendedAt: EPOCH };
    this.flow.hold(this.backlog);
  }

  /** The events that wait to begin, in order. */
  get waiting(): string[] {
    return this.lane.map((queued) => (queued as WaitingAttempt).pending.delivery.eventId);
  }

  /** The scheduler begins all that waits, unless no reservation is free. */
  async begin({ isFull = false } = {}): Promise<void> {
    const begun = isFull ? [] : this.lane.splice(0);
    for (const queued of begun) if (!queued.isVoid && queued.mayBegin()) queued.begin(this.reserve());
    await settled();
  }

  /** The attempt that was sent last ends. */
  async ends(how: AttemptEnd): Promise<void> {
    this.sent.at(-1)?.ends(how);
    await settled();
  }

  /** What was appended to the log is durable, or the log has failed. */
  async writes({ isDurable = true } = {}): Promise<void> {
    for (const written of this.unwritten.splice(0)) written(isDurable);
    await settled();
  }

  private run(request: AttemptRequest): Promise<AttemptRun> {
    const about = { url: 'https://example.org/', auth: 'none', discardToken: () => undefined } as const;
    return new Promise((resolve, reject) => {
      const ends: Sent['ends'] = (how) => {
        if (how instanceof Error) reject(how);
        else resolve(typeof how === 'string' ? { type: how } : { type: 'ended', ...about, result: how });
      };
      this.sent.push({ request, ends });
    });
  }

  private confirmOwnership(): Promise<void> {
    this.asked++;
    return this.asked === 1 ? Promise.reject(new Error('Another process owns it.')) : new Promise(() => undefined);
  }

  private reserve(): BegunDelivery {
    this.reserved++;
    return { retryStarts: () => undefined, answered: () => undefined, end: () => this.reserved-- };
  }
}

/** Lets every promise that is ready run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
