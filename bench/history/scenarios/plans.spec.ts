import { describe, expect, it } from '@jest/globals';
import type { PlanNode } from '@waypost/history-store';
import { faultsOf } from './plans.js';

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2026, 5, 18, 12);
const query = { fleetId: 'fleet-1', startAt: NOON, endAt: NOON + 24 * HOUR_MS, limit: 101 };

function scan(change: Partial<PlanNode> = {}): PlanNode {
  return {
    'Node Type': 'Index Scan',
    'Relation Name': 'deliveries_20260618',
    'Actual Rows': 50,
    'Actual Loops': 1,
    ...change,
  };
}

describe('The check of a plan', () => {
  it('finds nothing in a plan that reads a page of the days of its window', () => {
    expect(faultsOf([scan(), scan({ 'Relation Name': 'deliveries_20260619' })], query)).toEqual([]);
  });

  it('finds a day before the window, after it, and before the place where the walk is', () => {
    const of = (day: string): PlanNode[] => [scan({ 'Relation Name': `deliveries_${day}` })];
    expect(faultsOf(of('20260617'), query)).toEqual(['deliveries_20260617 is not of the window']);
    expect(faultsOf(of('20260620'), query)).toEqual(['deliveries_20260620 is not of the window']);
    const after = { firstAttemptAt: NOON + 13 * HOUR_MS, eventId: '', series: 0 };
    expect(faultsOf(of('20260618'), { ...query, after })).toEqual(['deliveries_20260618 is not of the window']);
    // A window up to midnight does not hold the day that begins then.
    expect(faultsOf(of('20260619'), { ...query, endAt: NOON + 12 * HOUR_MS })).toHaveLength(1);
  });

  it('finds whatever reads a table without an index', () => {
    for (const type of ['Seq Scan', 'Parallel Seq Scan', 'Bitmap Heap Scan']) {
      expect(faultsOf([scan({ 'Node Type': type })], query)).toEqual([`${type} is not an index`]);
    }
  });

  it('counts rows that were fetched and left out', () => {
    const rows = { 'Actual Rows': 100, 'Rows Removed by Filter': 900, 'Actual Loops': 2 };
    expect(faultsOf([scan(rows)], query)).toEqual(['2000 rows are read for a page']);
  });

  it('allows a page and one more row per merged list for any query, and no larger sort', () => {
    const reading = (rows: number) => [scan({ 'Actual Rows': rows, 'Actual Loops': 1 })];
    const ofTypes = { ...query, eventTypes: ['a', 'b', 'c', 'd'] };
    expect(faultsOf(reading(101 + 4 * 3), ofTypes)).toEqual([]);
    expect(faultsOf(reading(2 * 101), ofTypes)).toHaveLength(1);
    expect(faultsOf([scan({ 'Node Type': 'Sort', 'Actual Rows': 5_000 })], query)).toContain(
      'a Sort of more than the page',
    );
  });
});
