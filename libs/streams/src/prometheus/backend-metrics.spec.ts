import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { registerStallMetrics, registerTransactionMetrics } from './backend-metrics.js';

describe('the metric of stalls (R-40)', () => {
  it('shows for how long the oldest read, table, transaction or processor has not gone on', async () => {
    const stall = { kind: 'read', name: 'pings-0', cause: 'A transaction is open.', since: 10_000 } as const;
    const registry = new Registry();
    registerStallMetrics({ registry, now: () => 72_500 }, () => [stall, { ...stall, name: 'pings-1', since: 30_000 }]);
    const shown = (await registry.metrics()).split('\n').filter((line) => line.startsWith('streams_'));
    expect(shown).toEqual([
      'streams_stalled_seconds{kind="read"} 62.5',
      'streams_stalled_seconds{kind="table"} 0',
      'streams_stalled_seconds{kind="transaction"} 0',
      'streams_stalled_seconds{kind="processor"} 0',
    ]);
  });
});

describe('the metric of transactions (R-40)', () => {
  it('counts those of all partitions of a producer together', async () => {
    const registry = new Registry();
    const committed = registerTransactionMetrics({ registry });
    committed('webhook-delivery.fan-out.0', 20);
    committed('webhook-delivery.fan-out.12', 30);
    committed('public-api.outbox', 500);
    const sums = (await registry.metrics()).split('\n').filter((line) => line.includes('_sum'));
    expect(sums).toEqual([
      'streams_transaction_duration_seconds_sum{producer="webhook-delivery.fan-out"} 0.05',
      'streams_transaction_duration_seconds_sum{producer="public-api.outbox"} 0.5',
    ]);
  });
});
