import { describe, expect, it } from '@jest/globals';
import type { SummedFigures } from '@waypost/history-store';
import { createBucketText, toFigures } from './shown-figures.js';

const NOON = Date.UTC(2026, 5, 20, 12);

/** Of a hundred durations: as many of each as the number after it says. */
function durations(...counts: readonly (readonly [ms: number, count: number])[]): number[] {
  return counts.flatMap(([ms, count]) => [Math.ceil(Math.log(ms) / Math.log(1.1)), count]);
}

const FIGURES: SummedFigures = {
  started: 20,
  delivered: 9,
  failed: 5,
  expired: 2,
  retries: 31,
  probes: 32,
  attempts: [41, 42, 43, 44, 45, 46],
  latency: durations([200, 60], [3_000, 37], [40_000, 3]),
  retryLateness: durations([20, 94], [300, 4], [4_000, 2]),
};
const SHOWN = {
  deliveries: { delivered: 9, failed: 5, expired: 2, pending: 4 },
  attempts: { '2xx': 41, '3xx': 42, '4xx': 43, '5xx': 44, other: 45, noResponse: 46 },
  retries: 31,
  probes: 32,
  latencyMs: { p50: expect.closeTo(200, -2), p95: expect.closeTo(3_000, -3), p99: expect.closeTo(40_000, -4) },
  retryLatenessMs: { p50: expect.closeTo(20, -1), p95: expect.closeTo(300, -2), p99: expect.closeTo(4_000, -3) },
};

describe('figures as a response has them (R-41)', () => {
  it('name each count and percentile, in a bucket as in a sum', () => {
    expect(toFigures(FIGURES)).toEqual(SHOWN);
    expect(createBucketText('none')({ startAt: NOON, group: '', figures: FIGURES })).toEqual({
      startDate: '2026-06-20T12:00:00.000Z',
      ...SHOWN,
    });
  });

  it('have no percentiles of nothing', () => {
    const { latencyMs, retryLatenessMs } = toFigures({ ...FIGURES, latency: [], retryLateness: [] });
    expect([latencyMs, retryLatenessMs]).toEqual([undefined, undefined]);
  });

  it.each([
    ['subscription', 'subscriptionId'],
    ['eventType', 'eventType'],
  ] as const)('split by %s have the time of their bucket and the group as %s', (groupBy, name) => {
    const toBucket = createBucketText(groupBy);
    const rows = [0, 0, 1].map((hours, n) => ({
      startAt: NOON + hours * 3_600_000,
      group: `group ${String(n)}`,
      figures: FIGURES,
    }));
    expect(rows.map(toBucket)).toEqual([
      { startDate: '2026-06-20T12:00:00.000Z', [name]: 'group 0', ...SHOWN },
      { startDate: '2026-06-20T12:00:00.000Z', [name]: 'group 1', ...SHOWN },
      { startDate: '2026-06-20T13:00:00.000Z', [name]: 'group 2', ...SHOWN },
    ]);
  });
});
