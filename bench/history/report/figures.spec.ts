import { describe, expect, it } from '@jest/globals';
import { percentilesOf } from '../../shared/statistics.js';
import type { BenchResults } from '../measure-all.js';
import { jsonLine } from './figures.js';
import { reportText } from './report-text.js';

function page(name: string, ms: number) {
  return { name, rows: 100, ms: percentilesOf([ms / 2, ms]), waitedShare: 0.25 };
}
const results: BenchResults = {
  fill: {
    deliveries: 1_000,
    attempts: 1_200,
    attemptsPerSecond: 23_456.7,
    attemptsPerTransaction: 600,
    projectorCpuUs: 10,
    postgresCpuUs: 30,
    loadCpuUs: 4,
    lastPerSecond: 22_000,
  },
  size: {
    deliveries: 1_000,
    tableBytesPerDelivery: 900,
    bytesPerDelivery: 1_400.4,
    indexes: [{ name: 'deliveries_pkey', bytesPerDelivery: 60 }],
  },
  figures: [{ window: 'a day', step: 'minute', groupBy: 'subscription', ms: percentilesOf([45.6]), kilobytes: 1_234 }],
  plans: { checked: 248, mostRowsRead: 105, faults: [] },
  pages: {
    projectedPerSecond: 18_000,
    idle: ['no filter', 'page 1,000', 'a fleet with nothing', 'status', 'status + deviceId'].map((name) =>
      page(name, 2.5),
    ),
    pages: [
      ...[page('no filter', 4.26), page('page 1,000', 5.13), page('a fleet with nothing', 99)],
      ...[page('status', 3), page('status + deviceId', 7.77)],
    ],
  },
  retention: {
    deliveries: 66,
    bytes: 90_000,
    dropDayMs: 12.34,
    spaceFreedMs: 456.78,
    underWay: 4,
    beforeMs: percentilesOf([1, 2]),
    duringMs: percentilesOf([1, 3]),
  },
};

describe('The JSON line of the history benchmark', () => {
  it('holds only the requested figures', () => {
    expect(JSON.parse(jsonLine(results))).toEqual({
      bench: 'history',
      rows: 1_000,
      idlePageP99Ms: 2.5,
      pageP99Ms: 4.3,
      page1000P99Ms: 5.1,
      worstFilterP99Ms: 7.8,
      projectedPerSecond: 23_457,
      dropDayMs: 12.3,
      daySpaceFreedMs: 456.8,
      bytesPerDelivery: 1_400,
    });
  });

  it('is of a run that has read every kind of page', () => {
    expect(() => jsonLine({ ...results, pages: { ...results.pages, pages: [page('status', 3)] } })).toThrow(
      'no filter',
    );
  });
});

describe('The report', () => {
  const flags = { quick: false, deliveries: 1_000, pages: 2, dataDir: '', keep: false, writeDocs: false };

  it('names the worst filter', () => {
    const text = reportText(flags, results);
    expect(text).toContain('| Worst filter or pair, p99 (status + deviceId) | 7.8 ms | less than 25 ms |');
    expect(text).toContain(
      '| A day of 66 deliveries leaves the history: no longer visible | 12 ms | less than 100 ms |',
    );
    expect(text).toContain('| no filter | 1.3 | 2.5 | 2.1 | 4.3 | 4.3 | 25 %, 25 % | 100 |');
    expect(text).toContain('| a day | minute | subscription | 45.6 | 45.6 | 1,234 |');
    expect(text).toContain('| The same, until its 0.00 GB on the disk are free again | 457 ms |  |');
  });
});
