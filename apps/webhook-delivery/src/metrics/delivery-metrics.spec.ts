import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createDeliveryMetrics, createReplayMetrics } from './delivery-metrics.js';

const CLOCKS = { nowMs: () => 0, monotonicMs: () => 0 };

/** The lines of the registry that are not 0, without help and types. */
async function shown(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => /^[^#].* (?!0$)/.test(line));
}

describe('the metrics of deliveries (R-40)', () => {
  it('count deliveries and attempts, and follow what is pending, parked and suspended', async () => {
    const registry = new Registry();
    const metrics = createDeliveryMetrics(registry, CLOCKS);
    metrics.deliveryCreated();
    metrics.deliveryCreated();
    metrics.pendingChanged(3);
    metrics.pendingChanged(-1);
    metrics.parkedChanged(4);
    metrics.suspendedChanged(5);
    metrics.deliveryExpired();
    expect(await shown(registry)).toEqual([
      'waypost_deliveries_created_total 2',
      'waypost_attempts_total{outcome="expired",class="none"} 1',
      'waypost_deliveries_pending 2',
      'waypost_subscriptions_parked 4',
      'waypost_subscriptions_suspended 5',
    ]);
  });

  it('show what alerts compare before there is any, so that the first failures are an increase', async () => {
    const registry = new Registry();
    createDeliveryMetrics(registry, CLOCKS);
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('waypost_attempts_total'));
    expect(lines).toEqual([
      'waypost_attempts_total{outcome="delivered",class="2xx"} 0',
      'waypost_attempts_total{outcome="failed",class="none"} 0',
      'waypost_attempts_total{outcome="failed",class="3xx"} 0',
      'waypost_attempts_total{outcome="failed",class="4xx"} 0',
      'waypost_attempts_total{outcome="failed",class="5xx"} 0',
    ]);
  });

  it('observe in seconds how long an attempt took and how late it began, early counting as on time', async () => {
    const registry = new Registry();
    const metrics = createDeliveryMetrics(registry, CLOCKS);
    metrics.attemptEnded({ outcome: 'retrying', kind: 'retry', statusCode: 503, durationMs: 5_000, latenessMs: 20 });
    metrics.attemptEnded({ outcome: 'delivered', kind: 'retry', statusCode: 204, durationMs: 60, latenessMs: -5 });
    expect(await shown(registry)).toEqual(
      expect.arrayContaining([
        'waypost_attempts_total{outcome="retrying",class="5xx"} 1',
        'waypost_attempts_total{outcome="delivered",class="2xx"} 1',
        'waypost_attempt_duration_seconds_sum 5.06',
        'waypost_attempt_duration_seconds_bucket{le="0.1"} 1',
        'waypost_attempt_duration_seconds_bucket{le="5"} 2',
        'waypost_attempt_lateness_seconds_sum{kind="retry"} 0.02',
        'waypost_attempt_lateness_seconds_bucket{le="0.001",kind="retry"} 1',
        'waypost_attempt_lateness_seconds_bucket{le="0.02",kind="retry"} 2',
      ]),
    );
  });
});

it('the histograms of attempts have bounds around the limits of R-20 and R-22', async () => {
  const registry = new Registry();
  createDeliveryMetrics(registry, CLOCKS);
  const lines = (await registry.metrics()).split('\n');
  const boundsOf = (name: string): number[] =>
    lines
      .filter((line) => line.startsWith(`${name}_bucket`) && !/kind="(first|probe)"/.test(line))
      .map((line) => Number(/le="([^"]*)"/.exec(line)?.[1]));
  const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
  expect(boundsOf('waypost_attempt_duration_seconds')).toEqual([...durations, NaN]);
  const latenesses = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5];
  expect(boundsOf('waypost_attempt_lateness_seconds')).toEqual([...latenesses, NaN]);
});

describe('the metrics of replays (R-30)', () => {
  it('count what was written again and what is unfinished', async () => {
    const registry = new Registry();
    const metrics = createReplayMetrics(registry);
    metrics.deliveriesReplayed(7);
    metrics.unfinishedChanged(3);
    metrics.unfinishedChanged(-1);
    expect(await shown(registry)).toEqual(['waypost_replayed_deliveries_total 7', 'waypost_replays_unfinished 2']);
  });
});
