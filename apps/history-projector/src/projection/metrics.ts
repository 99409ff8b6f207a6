import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { AppliedBatch, AppliedPaths, AppliedWaiting } from '@waypost/history-store';
import type { ProjectionTaskMetrics } from './projection.task.js';

export type ProjectorMetrics = ProjectionTaskMetrics<AppliedBatch>;

export function createProjectorMetrics(registry: Registry, nowMs: () => number): ProjectorMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'waypost_projected_attempts_total',
    help: 'Attempts read from the log.',
    registers,
  });
  const rows = new Counter({
    name: 'waypost_projected_rows_total',
    help: 'Deliveries written or continued, each once per batch.',
    registers,
  });
  const skipped = new Counter({
    name: 'waypost_projection_skipped_total',
    help: 'Not written: attempts beyond the retention (expired), deliveries without their first attempt (headless).',
    labelNames: ['reason'],
    registers,
  });
  const duration = batchDuration(
    registry,
    'waypost_projection_batch_seconds',
    'Time to apply a batch, including waiting for the database.',
  );
  return {
    batchApplied: ({ items, durationMs, result }) => {
      attempts.inc(items);
      rows.inc(result.deliveries);
      skipped.inc({ reason: 'expired' }, result.expiredAttempts);
      skipped.inc({ reason: 'headless' }, result.headlessDeliveries);
      duration.observe(durationMs / 1_000);
    },
    ...withDelay(
      partitionLag(registry, 'waypost_projection_lag_records', 'Offsets of the log that are not yet projected.'),
      projectionDelay(registry, nowMs),
    ),
  };
}

type Lag = Pick<ProjectorMetrics, 'lagMeasured' | 'partitionClosed'>;
type Delay = Required<Pick<ProjectorMetrics, 'batchRead' | 'batchWritten'>> & {
  readonly closed: (partition: number) => void;
};

function withDelay(lag: Lag, { closed, ...delay }: Delay): Lag & Omit<Delay, 'closed'> {
  return {
    ...lag,
    ...delay,
    partitionClosed: (partition) => {
      lag.partitionClosed(partition);
      closed(partition);
    },
  };
}

/** How long attempts wait between the log and the history. */
function projectionDelay(registry: Registry, nowMs: () => number): Delay {
  const registers = [registry];
  const delay = new Histogram({
    name: 'waypost_projection_delay_seconds',
    help: 'Time from the log record of the oldest attempt of a batch until it is in the history.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600],
    registers,
  });
  const unwritten = new Map<number, number>();
  new Gauge({
    name: 'waypost_projection_oldest_unwritten_seconds',
    help: 'Age of the oldest attempt that was read but is not yet in the history; 0 if there is none.',
    registers,
    collect() {
      const at = nowMs();
      this.set([...unwritten.values()].reduce((oldest, loggedAt) => Math.max(oldest, at - loggedAt), 0) / 1_000);
    },
  });
  return {
    // Keeps the first time until it is written: a batch that is read again after a failure is as old.
    batchRead: (partition, loggedAt) => unwritten.set(partition, unwritten.get(partition) ?? loggedAt),
    batchWritten: (partition) => {
      const loggedAt = unwritten.get(partition);
      if (loggedAt === undefined) return;
      unwritten.delete(partition);
      delay.observe(Math.max(0, nowMs() - loggedAt) / 1_000);
    },
    closed: (partition) => unwritten.delete(partition),
  };
}

export interface PathMetrics extends ProjectionTaskMetrics<AppliedPaths> {
  pingsLeftOut(reason: 'undecodable' | 'rejected', count: number): void;
}

export function createPathMetrics(registry: Registry): PathMetrics {
  const pings = new Counter({
    name: 'waypost_path_pings_total',
    help: 'Pings read for the paths: stored, repeated, or skipped, with the reason.',
    labelNames: ['result'],
    registers: [registry],
  });
  const duration = batchDuration(
    registry,
    'waypost_path_batch_seconds',
    'Time to apply a batch of pings, including waiting for the database.',
  );
  return {
    pingsLeftOut: (reason, count) => pings.inc({ result: reason }, count),
    batchApplied: ({ durationMs, result: { type: _, ...counts } }) => {
      for (const [result, count] of Object.entries(counts)) pings.inc({ result }, count);
      duration.observe(durationMs / 1_000);
    },
    ...partitionLag(registry, 'waypost_path_lag_records', 'Offsets of pings that are not yet in the paths.'),
  };
}

export type WaitingMetrics = ProjectionTaskMetrics<AppliedWaiting>;

export function createWaitingMetrics(registry: Registry): WaitingMetrics {
  const waiting = new Counter({
    name: 'waypost_projected_waiting_total',
    help: 'Deliveries that had no attempt a moment after they were logged, and went into the history without one.',
    registers: [registry],
  });
  return {
    batchApplied: ({ result }) => waiting.inc(result.waiting),
    ...partitionLag(registry, 'waypost_waiting_lag_records', 'Offsets of deliveries that are not yet checked.'),
  };
}

function batchDuration(registry: Registry, name: string, help: string): Histogram {
  const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
  return new Histogram({ name, help, buckets, registers: [registry] });
}

function partitionLag(registry: Registry, name: string, help: string): Lag {
  const lag = new Gauge({ name, help, labelNames: ['partition'], registers: [registry] });
  return {
    lagMeasured: (partition, records) => lag.set({ partition }, records),
    partitionClosed: (partition) => lag.remove({ partition }),
  };
}
