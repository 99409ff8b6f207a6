import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DAY_MS } from '@waypost/domain';
import { useTestHistory } from '../../../../test/support/test-history.js';
import { NOW } from '../deliveries/attempt-samples.contract.js';
import { createDeliveryFigures } from './delivery-figures.js';
import { bucketStart, FIGURE_STEPS, ROW_STEPS } from './figure-cells.js';
import { noFigures, summed } from './figures.js';
import type { FigureGroup } from './figures-sql.js';
import { packFigures } from './packed-figures.js';
import { createFigurePartitions } from './write-figures.js';

const suite = useTestHistory();
const ONE = packFigures(summed({ ...noFigures(), started: 1 }));
const TODAY = bucketStart(NOW, 'day');

beforeEach(() => suite.dataSource.query('TRUNCATE delivery_figures'));

interface StoredDays {
  readonly days: number;
  readonly subscriptions: number;
  /** Minutes of each row that no hour has yet. */
  readonly minutes?: number;
  readonly steps?: readonly number[];
}

/** Rows of the newest days, as a fleet has them whose subscriptions deliver something at many minutes of each. */
async function store({ days, subscriptions, minutes = 20, steps = [ROW_STEPS.day] }: StoredDays): Promise<void> {
  await createFigurePartitions(suite.dataSource).ensurePartitions(TODAY - days * DAY_MS, NOW);
  const text = Array.from({ length: minutes }, (_, minute) => `${String(minute * 7)}${ONE}`).join('');
  for (const step of steps)
    await suite.dataSource.query(
      `INSERT INTO delivery_figures (bucket_at, step, partition, fleet_id, subscription_id, event_type, figures, minutes)
       SELECT to_timestamp($1::float8 / 1000) - make_interval(days => day), $2, 0, 'acme', subscription::text, '', $3, $4
         FROM generate_series(0, $5::integer - 1) AS day, generate_series(1, $6::integer) AS subscription`,
      [TODAY, step, ONE, text, days, subscriptions],
    );
}

async function read({
  limits,
  days = 15,
  groupBy = 'none',
}: {
  limits?: object;
  days?: number;
  groupBy?: FigureGroup;
}) {
  const pages = suite.pages;
  const defaults = { sliceBytes: 20_000_000, bytes: 200_000_000, rows: 100_000 };
  const figures = createDeliveryFigures({ pages, ...(limits && { limits: { ...defaults, ...limits } }) });
  const query = { fleetId: 'acme', startAt: TODAY - (days - 1) * DAY_MS, endAt: NOW, step: 'day', groupBy } as const;
  const [rows, sums] = [await figures.read(query, (row) => row), await figures.sum(query)];
  expect(sums.type).toBe(rows.type);
  if (rows.type === 'too_many' || sums.type === 'too_many') return 'too_many';
  const total = rows.rows.reduce((sum, { figures: { started } }) => sum + started, 0);
  expect(sums.rows.reduce((sum, { figures: { started } }) => sum + started, 0)).toBe(total);
  return { rows: rows.rows.length, total, sums: sums.rows.length };
}

describe('what an answer about figures adds (R-41)', () => {
  it('is 15 days of thousands of subscriptions, more than is read at once', async () => {
    await store({ days: 15, subscriptions: 3_000 });
    const { size } = (
      await suite.dataSource.query<[{ size: number }]>(
        'SELECT sum(octet_length(minutes))::float8 AS size FROM delivery_figures',
      )
    )[0];
    expect(size).toBeGreaterThan(20_000_000);
    const statements = jest.spyOn(suite.pages, 'read');
    expect(await read({})).toEqual({ rows: 15, total: 15 * 3_000 * 21, sums: 1 });
    // For the buckets, and for their sum.
    expect(statements.mock.calls.length).toBeGreaterThan(2);
    statements.mockRestore();
    expect(await read({ groupBy: 'subscription', limits: {} })).toEqual({
      rows: 45_000,
      total: 15 * 3_000 * 21,
      sums: 3_000,
    });
    const figures = createDeliveryFigures({ pages: suite.pages });
    const split = { fleetId: 'acme', endAt: NOW, step: 'day', groupBy: 'subscription' } as const;
    const typeOf = async (days: number) =>
      (await figures.read({ ...split, startAt: TODAY - (days - 1) * DAY_MS }, (row) => row)).type;
    // 18,000 buckets and 21,000.
    expect([await typeOf(6), await typeOf(7)]).toEqual(['figures', 'too_many']);
  });

  it.each([1_000, 2_500, 5_100, 100_000])('is the same however much is read at once: %d bytes', async (sliceBytes) => {
    // Some 750 bytes of a day.
    await store({ days: 5, subscriptions: 2, minutes: 10 });
    expect(await read({ days: 5, limits: { sliceBytes }, groupBy: 'subscription' })).toEqual({
      rows: 10,
      total: 5 * 2 * 11,
      sums: 2,
    });
  });

  it.each([
    ['a day alone is more than is read at once', { sliceBytes: 700 }],
    ['all days are more than one answer adds', { sliceBytes: 1_000, bytes: 3_500 }],
    ['it would have too many rows', { rows: 9 }],
  ])('is refused when %s', async (reason, limits) => {
    await store({ days: 5, subscriptions: reason.includes('rows') ? 10 : 2, minutes: 10 });
    expect(await read({ days: 5, limits, groupBy: 'subscription' })).toBe('too_many');
  });

  it('has as many rows as it may have', async () => {
    await store({ days: 1, subscriptions: 10, minutes: 0 });
    expect(await read({ limits: { rows: 10 }, groupBy: 'subscription' })).toMatchObject({ rows: 10, sums: 10 });
    expect(await read({ limits: { rows: 9 }, groupBy: 'subscription' })).toBe('too_many');
  });

  it('is refused by the size of all rows together, of this and of earlier versions', async () => {
    const steps = [FIGURE_STEPS.day, ROW_STEPS.day];
    await store({ days: 1, subscriptions: 10, minutes: 0, steps });
    expect(await read({ limits: { bytes: 10 * 2 * 150 } })).toEqual({ rows: 1, total: 20, sums: 1 });
    expect(await read({ limits: { bytes: 10 * 150 } })).toBe('too_many');
  });
});
