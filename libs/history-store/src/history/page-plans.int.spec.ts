import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeliveryQuery } from '@waypost/domain';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../data-source.js';
import { createTestDatabase, type TestDatabase } from '../management/testing/test-database.js';
import { NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import { findDeliveriesSql } from './find-deliveries-sql.js';

const DAY_MS = 86_400_000;
const ROWS_A_DAY = 6_000;

let database: TestDatabase;
let dataSource: DataSource;

/** Six days of 6,000 deliveries of three fleets; one fleet has most of them. */
beforeAll(async () => {
  database = await createTestDatabase(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  dataSource = await createDataSource(database.url).initialize();
  await createDeliveryPartitions(dataSource).ensurePartitions(NOW - 5 * DAY_MS, NOW);
  await dataSource.query(
    `INSERT INTO deliveries (event_id, first_attempt_at, last_attempt_at, event_time, created_at, series, status_code,
       last_attempt, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts)
     SELECT md5(n::text)::uuid, at, at, at, at, 0, CASE WHEN n % 50 = 0 THEN 500 ELSE 200 END, 1,
            CASE WHEN n % 10 < 8 THEN 'big' ELSE 'small-' || n % 2 END, 'device-' || n % 100, md5((n % 8)::text),
            'type-' || n % 8, 'v1', CASE WHEN n % 50 = 0 THEN 'failed' WHEN n % 50 = 1 THEN 'pending' ELSE 'delivered' END, 'https://x.example/', '{}', '[]'
       FROM generate_series(0, $1::integer - 1) AS n,
            LATERAL (SELECT $2::timestamptz + n * interval '1 day' / $3::integer AS at) AS moment`,
    [6 * ROWS_A_DAY, new Date(Math.floor(NOW / DAY_MS) * DAY_MS - 5 * DAY_MS).toISOString(), ROWS_A_DAY],
  );
  await dataSource.query('ANALYZE deliveries');
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The nodes of the plan that the query is really run with: the same text, the same parameters. */
async function planOf(query: Partial<DeliveryQuery>): Promise<PlanNode[]> {
  const page = { fleetId: 'big', startAt: NOW - 2 * DAY_MS, endAt: NOW - DAY_MS, limit: 100, ...query };
  const sql = findDeliveriesSql(page);
  if (sql === null) throw new Error('no SQL for this query');
  const rows: { 'QUERY PLAN': { Plan: PlanNode }[] }[] = await dataSource.query(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${sql.text}`,
    sql.parameters,
  );
  const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
  return (rows[0]?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => nodesOf(Plan));
}

const tablesOf = (plan: PlanNode[]): string[] =>
  [...new Set(plan.flatMap((node) => node['Relation Name'] ?? []))].sort();

/** Index scans name the index of a day: `deliveries_20260618_fleet_id_device_id_...`. */
const indexesOf = (plan: PlanNode[]): string[] => [
  ...new Set(plan.flatMap((node) => node['Index Name']?.replace(/^deliveries_\d{8}_/, '') ?? [])),
];

const nodeTypes = (plan: PlanNode[]): string[] => plan.map((node) => node['Node Type']);

/** NOW is noon: a window of a day from noon to noon. */
const DAYS_OF_WINDOW = ['deliveries_20260618', 'deliveries_20260619'];

describe('the plan of a page', () => {
  const cases: [string, Partial<DeliveryQuery>, RegExp][] = [
    ['no filter', {}, /^fleet_id_status_first_attempt_at/],
    ['an event type', { eventTypes: ['type-3'] }, /^fleet_id_event_type_/],
    ['several event types', { eventTypes: ['type-3', 'type-5'] }, /^fleet_id_event_type_/],
    ['a device', { deviceId: 'device-13' }, /^fleet_id_device_id_/],
    ['a subscription', { subscriptionId: 'eccbc87e4b5ce2fe28308fd9f2a7baf3' }, /^fleet_id_subscription_id_/],
    ['a rare status', { status: 'failed' }, /^fleet_id_status_/],
    ['a rare status code', { statusCode: 500 }, /^fleet_id_status_code_/],
    ['an event', { eventId: uuidOf('x') }, /^pkey/],
  ];

  it.each(cases)('with %s touches only the days of its window, through the index for it', async (_, query, index) => {
    const plan = await planOf(query);
    expect(tablesOf(plan).filter((name) => !DAYS_OF_WINDOW.includes(name))).toEqual([]);
    expect(nodeTypes(plan)).not.toContain('Seq Scan');
    expect(indexesOf(plan)).toHaveLength(1);
    expect(indexesOf(plan)[0]).toMatch(index);
  });

  it('reads a page in index order and stops when it is full, wherever the walk is', async () => {
    for (const hours of [0, 1, 12, 20]) {
      const firstAttemptAt = NOW - 2 * DAY_MS + hours * 3_600_000;
      const plan = await planOf({ after: { firstAttemptAt, eventId: uuidOf('any'), series: 0 } });

      expect(nodeTypes(plan)).not.toContain('Sort');
      const scanned = plan.filter((node) => node['Relation Name'] !== undefined);
      const read = scanned.map(
        (node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      );
      // The page, and of each other status the row that is next.
      expect(read.reduce((sum, rows) => sum + rows, 0)).toBeGreaterThanOrEqual(100);
      expect(read.reduce((sum, rows) => sum + rows, 0)).toBeLessThanOrEqual(102);
    }
  });

  it('leaves out the days that the walk has behind it', async () => {
    const plan = await planOf({ after: { firstAttemptAt: NOW - DAY_MS - 1_000, eventId: uuidOf('any'), series: 0 } });
    expect(tablesOf(plan)).toEqual(['deliveries_20260619']);
  });

  it('does not sort where a filter has its index', async () => {
    for (const filter of [{ eventTypes: ['type-3'] }, { status: 'delivered' as const }, { statusCode: 200 }]) {
      expect(nodeTypes(await planOf(filter))).not.toContain('Sort');
    }
  });
});
