import { Gauge, Histogram } from 'prom-client';
import { type Stall, STALL_KINDS } from '../stalls.js';
import type { MetricsOptions } from './task-metrics.js';

const TRANSACTION_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** @returns the `onCommit` of createKafkaBackend() */
export function registerTransactionMetrics({
  registry,
  prefix = 'streams_',
}: Omit<MetricsOptions, 'now'>): (transactionalId: string, durationMs: number) => void {
  const durations = new Histogram({
    name: `${prefix}transaction_duration_seconds`,
    help: 'Time from the start of a Kafka transaction to the response to its commit, by transactional id without its last part.',
    labelNames: ['producer'],
    buckets: TRANSACTION_BUCKETS_S,
    registers: [registry],
  });
  return (transactionalId, durationMs) =>
    durations.observe({ producer: transactionalId.replace(/\.(\d+|[\da-f-]{36})$/, '') }, durationMs / 1_000);
}

/** @param stalls such as those of `backend.stalls.all()`, the oldest of a kind first */
export function registerStallMetrics(
  { registry, prefix = 'streams_', now }: MetricsOptions,
  stalls: () => readonly Stall[],
): void {
  new Gauge({
    name: `${prefix}stalled_seconds`,
    help: 'How long the oldest stalled read, table, transaction or processor has been waiting; 0 if there is none.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      const all = stalls();
      for (const kind of STALL_KINDS) {
        const oldest = all.find((stall) => stall.kind === kind);
        this.set({ kind }, oldest ? Math.max(0, now() - oldest.since) / 1_000 : 0);
      }
    },
  });
}
