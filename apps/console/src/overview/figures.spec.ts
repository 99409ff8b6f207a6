import { describe, expect, it } from '@jest/globals';
import type { FigureBucket } from '@waypost/client';
import { columnsOf, firstColumnMs, totalsOf, worstOf } from './figures.js';

const NOON = Date.UTC(2026, 2, 20, 12);

function bucket(minute: number, deliveries: Partial<FigureBucket['deliveries']>, subscriptionId = 's-1'): FigureBucket {
  return {
    startDate: new Date(NOON + minute * 60_000).toISOString(),
    subscriptionId,
    deliveries: { delivered: 0, failed: 0, expired: 0, pending: 0, ...deliveries },
    attempts: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0, noResponse: 0 },
    retries: 0,
    probes: 0,
  };
}

describe('the columns of a chart', () => {
  it('are all of the window, also those that the API leaves out, and expired deliveries have failed', () => {
    const columns = columnsOf(
      [bucket(1, { delivered: 3, failed: 1, expired: 2 })],
      NOON + 30_000,
      NOON + 180_000,
      'minute',
    );
    expect(columns.map(({ delivered, pending, failed }) => [delivered, pending, failed])).toEqual([
      [0, 0, 0],
      [3, 0, 3],
      [0, 0, 0],
    ]);
    expect(columns[0]?.startDate).toBe('2026-03-20T12:00:00.000Z');
  });

  it('are as many as a range has, and begin where the first one does', () => {
    const start = firstColumnMs(NOON + 30 * 60_000, 'hour', 24);
    expect(new Date(start).toISOString()).toBe('2026-03-19T13:00:00.000Z');
    expect(columnsOf([], start, NOON + 30 * 60_000, 'hour')).toHaveLength(24);
  });

  it('give a success rate of what is over, and none while nothing is', () => {
    const of = (deliveries: Partial<FigureBucket['deliveries']>) =>
      totalsOf(columnsOf([bucket(0, deliveries)], NOON, NOON + 60_000, 'minute'));
    expect(of({ delivered: 3, failed: 1, pending: 5 })).toMatchObject({ all: 9, successRate: 0.75 });
    expect(of({ pending: 5 }).successRate).toBeNull();
  });
});

describe('the worst subscriptions', () => {
  it('are those with the most failed deliveries, then with the most retries, without those that have neither', () => {
    const totals = [
      bucket(0, { failed: 3, delivered: 9 }, 's-1'),
      bucket(0, { failed: 1, expired: 3 }, 's-2'),
      bucket(0, { delivered: 100 }, 's-3'),
      { ...bucket(0, { delivered: 2 }, 's-4'), retries: 3 },
    ];
    expect(worstOf(totals, 5)).toEqual([
      { subscriptionId: 's-2', failed: 4, all: 4, retries: 0 },
      { subscriptionId: 's-1', failed: 3, all: 12, retries: 0 },
      { subscriptionId: 's-4', failed: 0, all: 2, retries: 3 },
    ]);
    expect(worstOf(totals, 1)).toHaveLength(1);
  });
});
