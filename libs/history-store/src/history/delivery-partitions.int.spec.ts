import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import type { DailyPartitions } from '../daily-partitions.js';
import { createDataSource } from '../data-source.js';
import { createTestDatabase, type TestDatabase } from '../management/testing/test-database.js';
import { attemptOf, NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import { foldAttempts } from './fold-attempts.js';
import { createDeliveryProjection } from './postgres-delivery-projection.js';
import { writeAsExpected } from './write-deliveries.js';

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

describe('dropExpiredPartitions', () => {
  it('drops the days whose last moment is older than 15 days, and no others', async () => {
    await partitions.ensurePartitions(Date.UTC(2026, 5, 3), Date.UTC(2026, 5, 20));

    // At noon of the 20th the retention reaches back to noon of the 5th: the 4th is wholly older.
    expect(await partitions.dropExpiredPartitions(NOW)).toEqual({
      type: 'dropped',
      partitions: ['deliveries_20260603', 'deliveries_20260604'],
    });
    expect((await tables())[0]).toBe('deliveries_20260605');
    // The first moment at which all of the 5th is.
    const midnight = Date.UTC(2026, 5, 21);
    expect(await partitions.dropExpiredPartitions(midnight - 1)).toEqual({ type: 'dropped', partitions: [] });
    expect(await partitions.dropExpiredPartitions(midnight)).toEqual({
      type: 'dropped',
      partitions: ['deliveries_20260605'],
    });
  });

  it('lets readers of the other days go on while it waits for one that still reads', async () => {
    await partitions.ensurePartitions(NOW - 20 * DAY_MS, NOW - 20 * DAY_MS);
    await write(uuidOf('recent'), NOW);
    let dropping: Promise<unknown> | undefined;
    await dataSource.transaction(async (reader) => {
      await reader.query('SELECT count(*) FROM deliveries');
      dropping = partitions.dropExpiredPartitions(NOW);
      await until(async () => (await attachedDays()) === 1);

      expect(await dataSource.query('SELECT event_id FROM deliveries')).toEqual([{ event_id: uuidOf('recent') }]);
      await write(uuidOf('meanwhile'), NOW + 1);
    });
    expect(await dropping).toEqual({ type: 'dropped', partitions: ['deliveries_20260531'] });
    expect(await tables()).toEqual(['deliveries_20260620']);
  });

  it('does not wait for the projection, which writes other days', async () => {
    await partitions.ensurePartitions(NOW - 20 * DAY_MS, NOW - 20 * DAY_MS);
    await partitions.ensurePartitions(NOW - DAY_MS, NOW);
    const runner = dataSource.createQueryRunner();
    const client = (await runner.connect()) as PoolClient;
    const write = (name: string, expectedOffset: number | null, nextOffset: number): Promise<number | null> => {
      const attempts = [NOW - DAY_MS, NOW - 1_000].map((startedAt) =>
        attemptOf({ eventId: uuidOf(`${name} ${String(startedAt)}`), startedAt }),
      );
      const batch = { topic: 'attempts not waited for', partition: 0, expectedOffset, nextOffset, attempts };
      return writeAsExpected(client, batch, foldAttempts(attempts));
    };
    try {
      // The first transaction of a connection asks the whole table for the bounds of the days.
      expect(await write('first', null, 2)).toBe(2);
      await client.query('COMMIT');
      expect(await write('second', 2, 4)).toBe(2);
      expect(await partitions.dropExpiredPartitions(NOW)).toEqual({
        type: 'dropped',
        partitions: ['deliveries_20260531'],
      });
    } finally {
      await client.query('ROLLBACK');
      await runner.release();
    }
  });

  it('is done by one process at a time', async () => {
    await partitions.ensurePartitions(NOW - 20 * DAY_MS, NOW - 20 * DAY_MS);
    let first: Promise<unknown> | undefined;
    await dataSource.transaction(async (reader) => {
      await reader.query('SELECT count(*) FROM deliveries');
      first = partitions.dropExpiredPartitions(NOW);
      await until(async () => (await attachedDays()) === 0);

      expect(await partitions.dropExpiredPartitions(NOW)).toEqual({ type: 'busy' });
    });
    expect(await first).toMatchObject({ type: 'dropped' });
  });

  it('finishes what an earlier run was cut short in', async () => {
    await partitions.ensurePartitions(NOW - 21 * DAY_MS, NOW - 20 * DAY_MS);
    // One day was detached but not dropped, the other's detaching was cancelled while it waited for a reader.
    await dataSource.query('ALTER TABLE deliveries DETACH PARTITION deliveries_20260530');
    await dataSource.transaction(async (reader) => {
      await reader.query('SELECT count(*) FROM deliveries');
      const detach = 'ALTER TABLE deliveries DETACH PARTITION deliveries_20260531 CONCURRENTLY';
      const cut = dataSource.query(detach).catch((error: unknown) => error);
      await until(async () => (await attachedDays()) === 0);
      await dataSource.query(`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = $1`, [detach]);
      expect(await cut).toBeInstanceOf(Error);
    });

    expect(await partitions.dropExpiredPartitions(NOW)).toEqual({
      type: 'dropped',
      partitions: ['deliveries_20260530', 'deliveries_20260531'],
    });
    expect(await tables()).toEqual([]);
  });
});

async function attachedDays(): Promise<number> {
  const [row]: { n: number }[] = await dataSource.query(
    `SELECT count(*)::integer AS n FROM pg_inherits WHERE inhparent = 'deliveries'::regclass AND NOT inhdetachpending`,
  );
  return row?.n ?? 0;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
