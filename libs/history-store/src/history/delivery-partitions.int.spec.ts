import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import type { DailyPartitions } from '../daily-partitions.js';
import { createDataSource } from '@waypost/database';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { attemptOf, NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import { createDeliveryProjection } from './postgres-delivery-projection.js';

const DAY_MS = 86_400_000;

let database: TestDatabase;
let dataSource: DataSource;
let partitions: DailyPartitions;

beforeAll(async () => {
  database = await createTestDatabase(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  dataSource = await createDataSource(database.url, { poolSize: 8 }).initialize();
  partitions = createDeliveryPartitions(dataSource);
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});
beforeEach(async () => {
  for (const name of await tables()) await dataSource.query(`DROP TABLE ${name}`);
});

/** The tables of days, attached or not. */
async function tables(): Promise<string[]> {
  const rows: { name: string }[] = await dataSource.query(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'deliveries\\_%' ORDER BY relname`,
  );
  return rows.map(({ name }) => name);
}

async function write(eventId: string, firstAttemptAt: number, nowMs = NOW): Promise<void> {
  const projection = createDeliveryProjection({ dataSource, now: () => nowMs });
  const attempts = [attemptOf({ eventId, firstAttemptAt })];
  const result = await projection.apply({
    topic: eventId,
    partition: 0,
    expectedOffset: null,
    nextOffset: 1,
    attempts,
  });
  expect(result.type).toBe('applied');
}

describe('ensurePartitions', () => {
  it('makes one partition a UTC day, for both moments and the days between', async () => {
    const created = await partitions.ensurePartitions(Date.UTC(2026, 1, 27, 23, 59, 59, 999), Date.UTC(2026, 2, 1));

    expect(created).toEqual(['deliveries_20260227', 'deliveries_20260228', 'deliveries_20260301']);
    expect(await tables()).toEqual(created);
    expect(await partitions.ensurePartitions(Date.UTC(2026, 1, 28), Date.UTC(2026, 1, 28))).toEqual([]);
  });

  it('bounds a day at UTC midnights, whatever the time zone of the session', async () => {
    const inAuckland = new URL(database.url);
    inAuckland.searchParams.set('options', '-c TimeZone=Pacific/Auckland');
    const elsewhere = await createDataSource(inAuckland.href).initialize();
    try {
      expect(await elsewhere.query('SHOW TimeZone')).toEqual([{ TimeZone: 'Pacific/Auckland' }]);
      await createDeliveryPartitions(elsewhere).ensurePartitions(NOW, NOW);
    } finally {
      await elsewhere.destroy();
    }
    await write(uuidOf('first'), Date.UTC(2026, 5, 20));
    await write(uuidOf('last'), Date.UTC(2026, 5, 21) - 1);

    expect(await tables()).toEqual(['deliveries_20260620']);
    expect(await dataSource.query('SELECT count(*)::integer AS n FROM deliveries_20260620')).toEqual([{ n: 2 }]);
  });

  it('gives every day the indexes of the table', async () => {
    await partitions.ensurePartitions(NOW, NOW);
    const [row]: { parent: number; day: number }[] = await dataSource.query(
      `SELECT (SELECT count(*)::integer FROM pg_index WHERE indrelid = 'deliveries'::regclass) AS parent,
              (SELECT count(*)::integer FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indexrelid
                WHERE indrelid = 'deliveries_20260620'::regclass) AS day`,
    );
    expect(row?.day).toBe(row?.parent);
    // Eight keys and the primary one.
    expect(row?.parent).toBe(9);
  });

  it('lets any number of callers make the same days', async () => {
    const all = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(() => partitions.ensurePartitions(NOW - 3 * DAY_MS, NOW + DAY_MS)),
    );
    expect(all.flat().sort()).toEqual(await tables());
    expect(await tables()).toHaveLength(5);
  });

  it('waits neither for a reader nor for a writer of other days', async () => {
    await partitions.ensurePartitions(NOW, NOW);
    await dataSource.transaction(async (open) => {
      await open.query('SELECT count(*) FROM deliveries');
      await open.query('DELETE FROM deliveries WHERE false');
      expect(await partitions.ensurePartitions(NOW + DAY_MS, NOW + DAY_MS)).toEqual(['deliveries_20260621']);
    });
  });
});
