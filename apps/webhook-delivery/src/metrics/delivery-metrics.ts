import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type BacklogMetrics, type BacklogSource, createBacklogMetrics } from './backlog-metrics.js';
import { createPastDueMetrics, type PastDueMetrics, type PastDueSource } from './past-due-metrics.js';

export interface EndedAttemptFigures {
  readonly outcome: string;
  readonly kind: 'first' | 'retry' | 'probe';
  /** null: there was no response. */
  readonly statusCode: number | null;
  readonly durationMs: number;
  readonly latenessMs: number;
}

export abstract class DeliveryMetrics implements PastDueMetrics, BacklogMetrics {
  abstract watchPastDue(source: PastDueSource): () => void;
  abstract watchBacklogs(source: BacklogSource): () => void;
  abstract deliveryCreated(): void;
  abstract attemptEnded(attempt: EndedAttemptFigures): void;
  /** A delivery waited longer than the history keeps it. */
  abstract deliveryExpired(): void;
  abstract pendingChanged(by: number): void;
  /** the number of parked subscriptions changed. */
  abstract parkedChanged(by: number): void;
  /** the number of suspended subscriptions changed. */
  abstract suspendedChanged(by: number): void;
}

const DURATION_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const LATENESS_BUCKETS_S = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5];

/** Duplicates `Clocks`, whose folder depends on this one. */
interface MetricClocks {
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

export function createDeliveryMetrics(registry: Registry, { nowMs, monotonicMs }: MetricClocks): DeliveryMetrics {
  const registers = [registry];
  const created = new Counter({
    name: 'waypost_deliveries_created_total',
    help: 'Deliveries created by the fan-out.',
    registers,
  });
  const attempts = new Counter({
    name: 'waypost_attempts_total',
    help: 'Delivery attempts and probes by outcome and class of the status code (none: no response). expired: a delivery ended after 15 days without an attempt.',
    labelNames: ['outcome', 'class'],
    registers,
  });
  const duration = new Histogram({
    name: 'waypost_attempt_duration_seconds',
    help: 'Time from the start of an attempt to its end.',
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const lateness = new Histogram({
    name: 'waypost_attempt_lateness_seconds',
    help: 'Delay from the due time of an attempt to its start, by kind. A first attempt or a probe is due once it may begin.',
    labelNames: ['kind'],
    buckets: LATENESS_BUCKETS_S,
    registers,
  });
  // Creates the series on startup, so that a rate sees the first attempt.
  for (const kind of ['first', 'retry', 'probe']) lateness.zero({ kind });
  attempts.inc({ outcome: 'delivered', class: '2xx' }, 0);
  for (const status of FAILED_CLASSES) attempts.inc({ outcome: 'failed', class: status }, 0);
  return {
    deliveryCreated: () => {
      created.inc();
    },
    ...createPastDueMetrics(registry, monotonicMs),
    ...createBacklogMetrics(registry, nowMs),
    attemptEnded: ({ outcome, kind, statusCode, durationMs, latenessMs }) => {
      attempts.inc({ outcome, class: classOf(statusCode) });
      duration.observe(durationMs / 1000);
      lateness.observe({ kind }, Math.max(0, latenessMs) / 1000);
    },
    deliveryExpired: () => {
      attempts.inc({ outcome: 'expired', class: NO_RESPONSE });
    },
    ...queueGauges(registry),
  };
}

function queueGauges(
  registry: Registry,
): Pick<DeliveryMetrics, 'pendingChanged' | 'parkedChanged' | 'suspendedChanged'> {
  const registers = [registry];
  const pending = new Gauge({ name: 'waypost_deliveries_pending', help: 'Deliveries not yet finished.', registers });
  const parked = new Gauge({
    name: 'waypost_subscriptions_parked',
    help: 'Subscriptions with more unfinished deliveries than fit in memory; the rest of their deliveries waits in the log.',
    registers,
  });
  const suspended = new Gauge({
    name: 'waypost_subscriptions_suspended',
    help: 'Subscriptions whose deliveries are held until a probe is accepted.',
    registers,
  });
  return {
    pendingChanged: (by) => pending.inc(by),
    parkedChanged: (by) => parked.inc(by),
    suspendedChanged: (by) => suspended.inc(by),
  };
}

const NO_RESPONSE = 'none';
const FAILED_CLASSES = [NO_RESPONSE, '3xx', '4xx', '5xx'];

function classOf(statusCode: number | null): string {
  return statusCode === null ? NO_RESPONSE : `${String(Math.floor(statusCode / 100))}xx`;
}

export abstract class ReplayMetrics {
  abstract deliveriesReplayed(count: number): void;
  abstract unfinishedChanged(by: number): void;
}

export function createReplayMetrics(registry: Registry): ReplayMetrics {
  const registers = [registry];
  const replayed = new Counter({
    name: 'waypost_replayed_deliveries_total',
    help: 'Deliveries written again by replays.',
    registers,
  });
  const unfinished = new Gauge({
    name: 'waypost_replays_unfinished',
    help: 'Unfinished replays in the partitions of this process.',
    registers,
  });
  return {
    deliveriesReplayed: (count) => {
      replayed.inc(count);
    },
    unfinishedChanged: (by) => {
      unfinished.inc(by);
    },
  };
}
