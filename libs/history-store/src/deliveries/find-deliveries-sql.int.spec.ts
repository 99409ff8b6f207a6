import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type DeliveryHistory, type DeliveryPosition, type DeliveryQuery, MAX_PAGE_BYTES } from '@waypost/domain';
import { useTestHistory } from '../../../../test/support/test-history.js';
import type { PlanNode } from '../sql/explain-query.js';
import { NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import { findDeliveriesSql } from './find-deliveries-sql.js';
import { createDeliveryHistory, explainPage } from './postgres-delivery-history.js';

const suite = useTestHistory();

const DAY_MS = 86_400_000;
const ROWS_PER_DAY = 6_000;
const LIMIT = 100;
/**
 * Rows read beyond the page: the next row of each merged list, three per type, the one that says that there are more, and
 * the one after it.
 */
const AHEAD = 5;
const THREE_TYPES = ['type-3', 'type-5', 'no such type'];

/**
 * Six days of 6,000 deliveries of three fleets; one fleet has most of them. No ANALYZE: plans must not depend on the
 * statistics of a day.
 */
beforeAll(async () => {
  await createDeliveryPartitions(suite.dataSource).ensurePartitions(NOW - 5 * DAY_MS, NOW);
  await suite.dataSource.query(
    `INSERT INTO deliveries (event_id, first_attempt_at, last_attempt_at, event_time, created_at, series, status_code,
       last_attempt, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts)
     SELECT md5(n::text)::uuid, at, at, at, at, 0, CASE WHEN n % 50 < 2 THEN 500 ELSE 200 END, 1,
            CASE WHEN n % 10 < 8 THEN 'big' ELSE 'small-' || n % 2 END, 'device-' || n % 100, md5((n % 7)::text),
            'type-' || n % 9, 'v1', CASE WHEN n % 50 = 0 THEN 'failed' WHEN n % 50 = 1 THEN 'pending' ELSE 'delivered' END, 'https://x.example/', '{}', '[]'
       FROM generate_series(0, $1::integer - 1) AS n,
            LATERAL (SELECT $2::timestamptz + n * interval '1 day' / $3::integer AS at) AS moment`,
    [6 * ROWS_PER_DAY, new Date(Math.floor(NOW / DAY_MS) * DAY_MS - 5 * DAY_MS).toISOString(), ROWS_PER_DAY],
  );
});

function planOf(query: Partial<DeliveryQuery>): Promise<readonly PlanNode[]> {
  return explainPage(suite.pages, {
    fleetId: 'big',
    startAt: NOW - 2 * DAY_MS,
    endAt: NOW - DAY_MS,
    limit: LIMIT,
    ...query,
  });
}

function tablesOf(plan: readonly PlanNode[]): string[] {
  return [...new Set(plan.flatMap((node) => node['Relation Name'] ?? []))].sort();
}

function indexesOf(plan: readonly PlanNode[]): string[] {
  return [...new Set(plan.flatMap((node) => node['Index Name'] ?? []))];
}

function nodeTypes(plan: readonly PlanNode[]): string[] {
  return plan.map((node) => node['Node Type']);
}

/** Rows fetched from the tables, including those that a filter removed. */
function rowsRead(plan: readonly PlanNode[]): number {
  return plan
    .filter((node) => node['Relation Name'] !== undefined)
    .map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'])
    .reduce((sum, rows) => sum + rows, 0);
}

/** NOW is noon: a window of a day from noon to noon. */
const DAYS_OF_WINDOW = ['deliveries_20260618', 'deliveries_20260619'];

type Filter = 'type' | 'types' | 'device' | 'subscription' | 'event' | 'code' | 'status';

const FILTERS: Readonly<Record<Filter, Partial<DeliveryQuery>>> = {
  type: { eventTypes: ['type-3'] },
  types: { eventTypes: THREE_TYPES },
  device: { deviceId: 'device-13' },
  subscription: { subscriptionId: 'eccbc87e4b5ce2fe28308fd9f2a7baf3' },
  event: { eventId: uuidOf('x') },
  code: { statusCode: 500 },
  status: { status: 'failed' },
};

/** The index that selects exactly the deliveries of the page, or else those of the device. */
function indexFor(filters: readonly Filter[]): string {
  const has = (filter: Filter): boolean => filters.includes(filter);
  const ofType = has('type') || has('types');
  if (has('event')) return 'deliveries_pkey';
  if (has('device')) return 'deliveries_by_device';
  if (has('subscription') && has('code')) return 'deliveries_by_subscription_and_code';
  if (has('subscription') && ofType && !has('status')) return 'deliveries_by_subscription_and_type';
  if (has('subscription')) return 'deliveries_by_subscription';
  if (ofType && has('code')) return 'deliveries_by_type_and_code';
  if (ofType) return 'deliveries_by_type';
  return has('code') ? 'deliveries_by_code' : 'deliveries_by_status';
}

function subsets<T>([first, ...others]: readonly T[]): T[][] {
  if (first === undefined) return [[]];
  const without = subsets(others);
  return [...without, ...without.map((some) => [first, ...some])];
}

/** Every possible set of filters, in both orders. */
const cases = subsets(Object.keys(FILTERS) as Filter[])
  .filter((filters) => !(filters.includes('type') && filters.includes('types')))
  .map((filters) => ({
    name: filters.length === 0 ? 'no filter' : filters.join(' + '),
    filters,
    query: Object.assign({}, ...filters.map((filter) => FILTERS[filter])) as Partial<DeliveryQuery>,
  }))
  .flatMap((one) => [
    one,
    { ...one, name: `${one.name}, newest first`, query: { ...one.query, order: 'desc' as const } },
  ]);

describe('the plan of a page', () => {
  it.each(cases)('with $name reads only the rows of the page, by the index for it', async ({ filters, query }) => {
    const plan = await planOf(query);

    expect(tablesOf(plan).filter((name) => !DAYS_OF_WINDOW.includes(name))).toEqual([]);
    expect(nodeTypes(plan)).not.toContain('Seq Scan');
    expect(nodeTypes(plan).filter((type) => type.startsWith('Bitmap'))).toEqual([]);
    expect(indexesOf(plan)).toEqual([indexFor(filters)]);
    const types = filters.includes('types') ? THREE_TYPES.length : 1;
    const isPagePerType = filters.includes('types') && indexFor(filters) === 'deliveries_by_subscription_and_type';
    const most = isPagePerType ? types * (LIMIT + AHEAD) : LIMIT + types * AHEAD;
    expect(rowsRead(plan)).toBeLessThanOrEqual(most);
    // Only the deliveries of one event are sorted, or the pages of several types.
    for (const node of plan.filter((found) => found['Node Type'] === 'Sort')) {
      expect(filters.includes('event') || isPagePerType).toBe(true);
      expect(node['Actual Rows']).toBeLessThanOrEqual(most);
    }
  });

  it('with several types reads the rows of the page, and one more row per list', async () => {
    for (const filters of [{ statusCode: 200 }, { status: 'delivered' }, {}] satisfies Partial<DeliveryQuery>[]) {
      const plan = await planOf({ ...filters, eventTypes: ['type-3', 'type-4', 'type-5', 'type-6'] });

      expect(nodeTypes(plan)).toContain('Merge Append');
      expect(nodeTypes(plan)).not.toContain('Nested Loop');
      expect(rowsRead(plan)).toBeLessThanOrEqual(LIMIT + 4 * AHEAD);
    }
  });

  it('with more types than are merged reads one page per type', async () => {
    const plan = await planOf({ eventTypes: ['type-2', 'type-3', 'type-4', 'type-5', 'type-6'] });

    expect(indexesOf(plan)).toEqual(['deliveries_by_type']);
    expect(nodeTypes(plan)).toContain('Nested Loop');
    expect(rowsRead(plan)).toBeLessThanOrEqual(5 * (LIMIT + AHEAD));
  });

  it.each(['asc', 'desc'] as const)('of several subscriptions reads no more than a page of each, %s', async (order) => {
    const subscriptionIds = ['3', '4', '5'].map((n) => createHash('md5').update(n).digest('hex'));
    const plan = await planOf({ order, subscriptionIds });

    expect(indexesOf(plan)).toEqual(['deliveries_by_subscription']);
    expect(rowsRead(plan)).toBeGreaterThanOrEqual(LIMIT);
    expect(rowsRead(plan)).toBeLessThanOrEqual(subscriptionIds.length * (LIMIT + AHEAD));
  });

  it('has the same statement for three and four types, and another for two', () => {
    const nameFor = (types: number): string | undefined => {
      const eventTypes = Array.from({ length: types }, (_, type) => `type-${String(type)}`);
      const query = { fleetId: 'big', startAt: 0, endAt: NOW, limit: LIMIT, eventTypes };
      return findDeliveriesSql(query, MAX_PAGE_BYTES)?.name;
    };
    expect(nameFor(3)).toBe(nameFor(4));
    expect(new Set([2, 3, 5, 6].map(nameFor)).size).toBe(3);
  });

  it.each(['asc', 'desc'] as const)('reads the same number of rows on every page of a walk, %s', async (order) => {
    for (const hours of order === 'asc' ? [0, 1, 12, 20] : [4, 12, 23, 24]) {
      const firstAttemptAt = NOW - 2 * DAY_MS + hours * 3_600_000;
      const plan = await planOf({ order, after: { firstAttemptAt, eventId: uuidOf('any'), series: 0 } });

      expect(nodeTypes(plan)).not.toContain('Sort');
      expect(rowsRead(plan)).toBeGreaterThanOrEqual(LIMIT);
      expect(rowsRead(plan)).toBeLessThanOrEqual(LIMIT + AHEAD);
    }
  });

  it('skips the days before the position of the walk', async () => {
    const plan = await planOf({ after: { firstAttemptAt: NOW - DAY_MS - 1_000, eventId: uuidOf('any'), series: 0 } });
    expect(tablesOf(plan)).toEqual(['deliveries_20260619']);
    const back = { firstAttemptAt: NOW - 2 * DAY_MS + 1_000, eventId: uuidOf('any'), series: 0 };
    expect(tablesOf(await planOf({ order: 'desc', after: back }))).toEqual(['deliveries_20260618']);
  });

  it('reads nothing for filters that contradict each other', async () => {
    expect(await planOf({ statusCode: 200, status: 'failed' })).toEqual([]);
    expect(await planOf({ statusCode: 503, status: 'delivered' })).toEqual([]);
  });

  it.each([
    [199, 'failed'],
    [200, 'delivered'],
    [299, 'delivered'],
    [300, 'failed'],
  ] as const)('looks for the code %d among the deliveries that are %s (R-20)', async (statusCode, status) => {
    const other = status === 'failed' ? 'delivered' : 'failed';
    expect(await planOf({ statusCode, status })).not.toEqual([]);
    expect(await planOf({ statusCode, status: other })).toEqual([]);
  });
});

describe('a walk over several types', () => {
  const FLEET = 'fleet-of-many-types';
  const ROWS = 600;
  /** Deliveries with the same first attempt: of all types and statuses, and more than a page. */
  const ROWS_PER_TIME = 40;

  interface Row {
    readonly event_id: string;
    readonly series: number;
    readonly at: Date;
    readonly event_type: string;
    readonly status: string;
    readonly status_code: number;
  }

  let history: DeliveryHistory;
  let rows: readonly Row[];

  /** Two days; ten types, each in every status. */
  beforeAll(async () => {
    history = createDeliveryHistory({ pages: suite.pages });
    await suite.dataSource.query(
      `INSERT INTO deliveries (event_id, first_attempt_at, last_attempt_at, event_time, created_at, series, status_code,
       last_attempt, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts)
     SELECT md5((n / 2)::text)::uuid, at, at, at, at, n % 2, CASE WHEN n % 4 = 0 THEN 503 ELSE 200 END, 1, $1, 'device',
            'subscription', 'type-' || (n / 8 + n) % 10, 'v1',
            CASE WHEN n % 8 = 0 THEN 'failed' WHEN n % 8 = 4 THEN 'pending' ELSE 'delivered' END, 'https://x.example/', '{}', '[]'
       FROM generate_series(0, $2::integer - 1) AS n,
            LATERAL (SELECT $3::timestamptz + (n / $4::integer) * interval '2 hours' AS at) AS moment`,
      [FLEET, ROWS, new Date(NOW - DAY_MS).toISOString(), ROWS_PER_TIME],
    );
    rows = await suite.dataSource.query(
      'SELECT event_id, series, first_attempt_at AS at, event_type, status, status_code FROM deliveries WHERE fleet_id = $1',
      [FLEET],
    );
  });
  /** Deliveries as `time event/series`. */
  const nameOf = (at: number, eventId: string, series: number): string =>
    `${new Date(at).toISOString()} ${eventId}/${String(series)}`;

  function expected({ eventTypes = [], status, statusCode }: Partial<DeliveryQuery>): string[] {
    return rows
      .filter(({ event_type }) => eventTypes.includes(event_type))
      .filter((row) => status === undefined || row.status === status)
      .filter((row) => statusCode === undefined || row.status_code === statusCode)
      .map((row) => nameOf(row.at.getTime(), row.event_id, row.series))
      .sort();
  }

  async function walk(filters: Partial<DeliveryQuery>, limit: number): Promise<string[]> {
    const seen: string[] = [];
    let after: DeliveryPosition | undefined;
    for (;;) {
      const query = { fleetId: FLEET, startAt: NOW - DAY_MS, endAt: NOW + DAY_MS, limit, ...filters };
      const { records, hasMore } = await history.findDeliveries(after === undefined ? query : { ...query, after });
      seen.push(...records.map(({ firstAttemptAt, eventId, series }) => nameOf(firstAttemptAt, eventId, series)));
      const last = records.at(-1);
      if (!hasMore || last === undefined) return seen;
      after = { firstAttemptAt: last.firstAttemptAt, eventId: last.eventId, series: last.series };
    }
  }

  const typesOf = (count: number): string[] => Array.from({ length: count }, (_, type) => `type-${String(type)}`);

  /** Up to four types are merged; five and more are read as one page per type. */
  const cases = [2, 3, 4, 5, 13].flatMap((count) =>
    [
      {},
      { status: 'failed' as const },
      { statusCode: 503 },
      { statusCode: 200 },
      { subscriptionId: 'subscription' },
    ].map((other) => ({
      name: `${String(count)} types and ${JSON.stringify(other)}`,
      filters: { ...other, eventTypes: typesOf(count) },
    })),
  );

  it.each(cases)(
    'returns each delivery of $name once, in order, including those of one millisecond',
    async ({ filters }) => {
      const all = expected(filters);
      expect(all.length).toBeGreaterThan(10);
      for (const limit of [7, 100, 1_000]) expect(await walk(filters, limit)).toEqual(all);
    },
  );

  it('returns each delivery once even if two given types are stored as the same text', async () => {
    const replaced = 'type-\uFFFD';
    await suite.dataSource.query(
      `UPDATE deliveries SET event_type = $1 WHERE event_type = 'type-0' AND fleet_id = $2`,
      [replaced, FLEET],
    );
    const filters = { statusCode: 200, eventTypes: ['type-\0', replaced, 'type-1'] };
    const seen = await walk(filters, 100);

    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(expected({ statusCode: 200, eventTypes: ['type-0', 'type-1'] }).length);
  });
});
