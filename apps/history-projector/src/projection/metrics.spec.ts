import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createPathMetrics, createProjectorMetrics, createWaitingMetrics } from './metrics.js';

/** The lines of the registry that are not 0, without help and types. */
async function shown(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => /^[^#].* (?!0$)/.test(line));
}

describe('the metrics of projections (R-40)', () => {
  it('count attempts, rows and what was not written, and time each batch in seconds', async () => {
    const registry = new Registry();
    const result = { type: 'applied', deliveries: 4, expiredAttempts: 2, headlessDeliveries: 1 } as const;
    createProjectorMetrics(registry, () => 0).batchApplied({ items: 7, durationMs: 50, result });
    expect(await shown(registry)).toEqual(
      expect.arrayContaining([
        'waypost_projected_attempts_total 7',
        'waypost_projected_rows_total 4',
        'waypost_projection_skipped_total{reason="expired"} 2',
        'waypost_projection_skipped_total{reason="headless"} 1',
        'waypost_projection_batch_seconds_sum 0.05',
        'waypost_projection_batch_seconds_bucket{le="0.05"} 1',
      ]),
    );
  });

  it('count pings by what became of them', async () => {
    const registry = new Registry();
    const metrics = createPathMetrics(registry);
    const result = { type: 'applied', stored: 5, repeated: 4, expired: 3, ahead: 2 } as const;
    metrics.batchApplied({ items: 14, durationMs: 2_500, result });
    metrics.pingsLeftOut('undecodable', 6);
    metrics.pingsLeftOut('rejected', 1);
    expect((await shown(registry)).filter((line) => /pings_total|seconds_sum/.test(line)).sort()).toEqual([
      'waypost_path_batch_seconds_sum 2.5',
      'waypost_path_pings_total{result="ahead"} 2',
      'waypost_path_pings_total{result="expired"} 3',
      'waypost_path_pings_total{result="rejected"} 1',
      'waypost_path_pings_total{result="repeated"} 4',
      'waypost_path_pings_total{result="stored"} 5',
      'waypost_path_pings_total{result="undecodable"} 6',
    ]);
  });

  it('count the deliveries that went into the history without an attempt', async () => {
    const registry = new Registry();
    const metrics = createWaitingMetrics(registry);
    metrics.batchApplied({ items: 9, durationMs: 50, result: { type: 'applied', waiting: 2 } });
    expect(await shown(registry)).toEqual(['waypost_projected_waiting_total 2']);
  });

  it.each([
    ['waypost_projection_lag_records', createProjectorMetrics],
    ['waypost_path_lag_records', createPathMetrics],
    ['waypost_waiting_lag_records', createWaitingMetrics],
  ])('show the lag of each partition of this process as %s', async (name, create) => {
    const registry = new Registry();
    const metrics = create(registry, () => 0);
    metrics.lagMeasured(1, 30);
    metrics.lagMeasured(2, 40);
    metrics.partitionClosed(1);
    expect((await shown(registry)).filter((line) => line.startsWith(name))).toEqual([`${name}{partition="2"} 40`]);
  });

  it('tell how long attempts wait between the log and the history, also while they wait', async () => {
    const registry = new Registry();
    let now = 10_000;
    const metrics = createProjectorMetrics(registry, () => now);
    const oldest = async () =>
      (await shown(registry)).filter((line) => line.startsWith('waypost_projection_oldest_unwritten_seconds'));
    metrics.batchRead?.(1, 9_000);
    metrics.batchRead?.(2, 4_000);
    // Read again after a failure: it has waited since it was logged.
    metrics.batchRead?.(2, 8_000);
    expect(await oldest()).toEqual(['waypost_projection_oldest_unwritten_seconds 6']);
    now = 11_000;
    metrics.batchWritten?.(2);
    expect(await oldest()).toEqual(['waypost_projection_oldest_unwritten_seconds 2']);
    expect(await shown(registry)).toContain('waypost_projection_delay_seconds_sum 7');
    metrics.partitionClosed(1);
    expect(await oldest()).toEqual([]);
  });
});
