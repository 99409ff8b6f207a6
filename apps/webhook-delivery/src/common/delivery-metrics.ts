import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface DeliveryMetrics {
  deliveryCreated(): void;
  attemptEnded(attempt: { outcome: string; durationMs: number; latenessMs: number }): void;
  /** A delivery waited for longer than the history keeps it. */
  deliveryExpired(): void;
  pendingChanged(by: number): void;
  /** Parked subscriptions. */
  parkedChanged(by: number): void;
  /** Suspended subscriptions. */
  suspendedChanged(by: number): void;
}

const DURATION_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const LATENESS_BUCKETS_S = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5];

export function createDeliveryMetrics(registry: Registry): DeliveryMetrics {
  const registers = [registry];
  const created = new Counter({
    name: 'waypost_deliveries_created_total',
    help: 'Deliveries made by the fan-out.',
    registers,
  });
  const attempts = new Counter({
    name: 'waypost_attempts_total',
    help: 'Delivery attempts and probes by outcome; expired: a delivery ended without one, after 15 days.',
    labelNames: ['outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'waypost_attempt_duration_seconds',
    help: 'From the start of an attempt to its end.',
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const lateness = new Histogram({
    name: 'waypost_attempt_lateness_seconds',
    help: 'From when an attempt was due to its start.',
    buckets: LATENESS_BUCKETS_S,
    registers,
  });
  const pending = new Gauge({ name: 'waypost_deliveries_pending', help: 'Deliveries not yet finished.', registers });
  const parked = new Gauge({
    name: 'waypost_subscriptions_parked',
    help: 'Subscriptions with more unfinished deliveries than are held in memory; the others wait in the log.',
    registers,
  });
  const suspended = new Gauge({
    name: 'waypost_subscriptions_suspended',
    help: 'Subscriptions whose deliveries are held until a probe is accepted.',
    registers,
  });
  return {
    deliveryCreated: () => {
      created.inc();
    },
    attemptEnded: ({ outcome, durationMs, latenessMs }) => {
      attempts.inc({ outcome });
      duration.observe(durationMs / 1000);
      lateness.observe(Math.max(0, latenessMs) / 1000);
    },
    deliveryExpired: () => {
      attempts.inc({ outcome: 'expired' });
    },
    pendingChanged: (by) => {
      pending.inc(by);
    },
    parkedChanged: (by) => {
      parked.inc(by);
    },
    suspendedChanged: (by) => {
      suspended.inc(by);
    },
  };
}

export interface ReplayMetrics {
  deliveriesReplayed(count: number): void;
  unfinishedChanged(by: number): void;
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
    help: 'Replays of the partitions of this process that are not over.',
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
