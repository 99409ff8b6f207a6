import type { AppliedBatch, AppliedPaths } from '@waypost/history-store';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ProjectionTaskMetrics } from './projection.task.js';

export interface ProjectorMetrics {
  batchApplied(batch: { attempts: number; durationMs: number; result: AppliedBatch }): void;
  lagMeasured(partition: number, records: number): void;
  partitionClosed(partition: number): void;
}

export function createProjectorMetrics(registry: Registry): ProjectorMetrics {
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
  const duration = new Histogram({
    name: 'waypost_projection_batch_seconds',
    help: 'Time to apply a batch, waiting for the database included.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers,
  });
  const lag = new Gauge({
    name: 'waypost_projection_lag_records',
    help: 'Offsets of the log that are not projected yet.',
    labelNames: ['partition'],
    registers,
  });
  return {
    batchApplied: (batch) => {
      attempts.inc(batch.attempts);
      rows.inc(batch.result.deliveries);
      skipped.inc({ reason: 'expired' }, batch.result.expiredAttempts);
      skipped.inc({ reason: 'headless' }, batch.result.headlessDeliveries);
      duration.observe(batch.durationMs / 1_000);
    },
    lagMeasured: (partition, records) => {
      lag.set({ partition }, records);
    },
    partitionClosed: (partition) => {
      lag.remove({ partition });
    },
  };
}

export interface PathMetrics extends ProjectionTaskMetrics<AppliedPaths> {
  pingsLeftOut(reason: 'undecodable' | 'rejected', count: number): void;
}

export function createPathMetrics(registry: Registry): PathMetrics {
  const registers = [registry];
  const pings = new Counter({
    name: 'waypost_path_pings_total',
    help: 'Pings read for the paths: stored, repeated, or left out, and why.',
    labelNames: ['result'],
    registers,
  });
  const duration = new Histogram({
    name: 'waypost_path_batch_seconds',
    help: 'Time to apply a batch of pings, waiting for the database included.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers,
  });
  const lag = new Gauge({
    name: 'waypost_path_lag_records',
    help: 'Offsets of the pings that are not in the paths yet.',
    labelNames: ['partition'],
    registers,
  });
  return {
    pingsLeftOut: (reason, count) => {
      pings.inc({ result: reason }, count);
    },
    batchApplied: ({ durationMs, result: { type: _, ...counts } }) => {
      for (const [result, count] of Object.entries(counts)) pings.inc({ result }, count);
      duration.observe(durationMs / 1_000);
    },
    lagMeasured: (partition, records) => {
      lag.set({ partition }, records);
    },
    partitionClosed: (partition) => {
      lag.remove({ partition });
    },
  };
}
