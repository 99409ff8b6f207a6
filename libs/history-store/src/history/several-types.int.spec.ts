import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeliveryHistory, DeliveryPosition, DeliveryQuery } from '@waypost/domain';
import type { DataSource } from 'typeorm';
import { createDataSource, createPageSource, type PageSource } from '@waypost/database';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { NOW } from './attempt-samples.contract.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import { createDeliveryHistory } from './postgres-delivery-history.js';

const DAY_MS = 86_400_000;
const FLEET = 'fleet-of-many-types';
const ROWS = 600;
/** So many deliveries have the same first attempt: of all types and statuses, and more than a page. */
const OF_ONE_MOMENT = 40;

interface Row {
  readonly event_id: string;
  readonly series: number;
  readonly at: Date;
  readonly event_type: string;
  readonly status: string;
  readonly status_code: number;
}

let database: TestDatabase;
let dataSource: DataSource;
let pages: PageSource;
let history: DeliveryHistory;
let rows: readonly Row[];

/** Two days; ten types, each in every status. */
beforeAll(async () => {
  database = await createTestDatabase(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  dataSource = await createDataSource(database.url).initialize();
  pages = createPageSource(database.url);
  history = createDeliveryHistory({ pages });
  await createDeliveryPartitions(dataSource).ensurePartitions(NOW - DAY_MS, NOW);
  await dataSource.query(
    `INSERT INTO deliveries (event_id, first_attempt_at, last_attempt_at, event_time, created_at, series, status_code,
       last_attempt, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts)
     SELECT md5((n / 2)::text)::uuid, at, at, at, at, n % 2, CASE WHEN n % 4 = 0 THEN 503 ELSE 200 END, 1, $1, 'device',
            'subscription', 'type-' || (n / 8 + n) % 10, 'v1',
            CASE WHEN n % 8 = 0 THEN 'failed' WHEN n % 8 = 4 THEN 'pending' ELSE 'delivered' END, 'https://x.example/', '{}', '[]'
       FROM generate_series(0, $2::integer - 1) AS n,
            LATERAL (SELECT $3::timestamptz + (n / $4::integer) * interval '2 hours' AS at) AS moment`,
    [FLEET, ROWS, new Date(NOW - DAY_MS).toISOString(), OF_ONE_MOMENT],
  );
  rows = await dataSource.query(
    'SELECT event_id, series, first_attempt_at AS at, event_type, status, status_code FROM deliveries',
  );
});
afterAll(async () => {
  await pages.close();
  await dataSource.destroy();
  await database.drop();
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

async function walk(asked: Partial<DeliveryQuery>, limit: number): Promise<string[]> {
  const seen: string[] = [];
  let after: DeliveryPosition | undefined;
  for (;;) {
    const query = { fleetId: FLEET, startAt: NOW - DAY_MS, endAt: NOW + DAY_MS, limit, ...asked };
    const page = await history.findDeliveries(after === undefined ? query : { ...query, after });
    seen.push(...page.map(({ firstAttemptAt, eventId, series }) => nameOf(firstAttemptAt, eventId, series)));
    const last = page.at(-1);
    if (page.length < limit || last === undefined) return seen;
    after = { firstAttemptAt: last.firstAttemptAt, eventId: last.eventId, series: last.series };
  }
}

const typesOf = (count: number): string[] => Array.from({ length: count }, (_, type) => `type-${String(type)}`);

/** Up to four are merged; five, and more than there are, are a page of each. */
const cases = [2, 3, 4, 5, 13].flatMap((count) =>
  [{}, { status: 'failed' as const }, { statusCode: 503 }, { statusCode: 200 }, { subscriptionId: 'subscription' }].map(
    (other) => ({
      name: `${String(count)} types and ${JSON.stringify(other)}`,
      asked: { ...other, eventTypes: typesOf(count) },
    }),
  ),
);

describe('a walk over several types', () => {
  it.each(cases)('sees all of $name once, in order, also what is of one moment', async ({ asked }) => {
    const all = expected(asked);
    expect(all.length).toBeGreaterThan(10);
    for (const limit of [7, 100, 1_000]) expect(await walk(asked, limit)).toEqual(all);
  });

  it('sees each once although a type is named in two ways that are stored as one', async () => {
    const replaced = 'type-\uFFFD';
    await dataSource.query(`UPDATE deliveries SET event_type = $1 WHERE event_type = 'type-0'`, [replaced]);
    const asked = { statusCode: 200, eventTypes: ['type-\0', replaced, 'type-1'] };
    const seen = await walk(asked, 100);

    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(expected({ statusCode: 200, eventTypes: ['type-0', 'type-1'] }).length);
  });
});
