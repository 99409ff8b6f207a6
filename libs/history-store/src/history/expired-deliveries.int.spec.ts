import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import type { DailyPartitions } from '../daily-partitions.js';
import { createDataSource } from '@waypost/database';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { attemptOf, NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import { foldAttempts } from './fold-attempts.js';
import { createDeliveryProjection } from './postgres-delivery-projection.js';
import { expectedDeliveries, writeAsExpected } from './write-deliveries.js';
import { until } from '../../../../test/support/until.js';

const DAY_MS = 86_400_000;
/** Two days that are wholly older than 15 days, and their tables. */
const OLDER = NOW - 21 * DAY_MS;
const OLD = NOW - 20 * DAY_MS;
const OLDER_DAY = 'deliveries_20260530';
const OLD_DAY = 'deliveries_20260531';

let database: TestDatabase;
let dataSource: DataSource;
let partitions: DailyPartitions;
/** Gives way at once. */
let hasty: DailyPartitions;

beforeAll(async () => {
  database = await createTestDatabase(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  dataSource = await createDataSource(database.url, { poolSize: 8 }).initialize();
  partitions = createDeliveryPartitions(dataSource);
  hasty = createDeliveryPartitions(dataSource, { lockTimeoutMs: 50, tries: 2, pauseMs: 1 });
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});
beforeEach(async () => {
  for (const name of await tables()) await dataSource.query(`DROP TABLE ${name}`);
  await dataSource.query('DELETE FROM projection_positions');
});

/** The tables of days, attached or not. */
async function tables(): Promise<string[]> {
  const rows: { name: string }[] = await dataSource.query(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'deliveries\\_%' ORDER BY relname`,
  );
  return rows.map(({ name }) => name);
}

async function write(name: string, firstAttemptAt: number, nowMs = NOW): Promise<void> {
  const projection = createDeliveryProjection({ dataSource, now: () => nowMs });
  const attempts = [attemptOf({ eventId: uuidOf(name), firstAttemptAt })];
  const batch = { topic: name, partition: 0, expectedOffset: null, nextOffset: 1, attempts };
  expect(await projection.apply(batch)).toMatchObject({ type: 'applied' });
}

const writeOld = (name: string, firstAttemptAt: number): Promise<void> => write(name, firstAttemptAt, firstAttemptAt);

const found = async (): Promise<string[]> => {
  const rows: { event_id: string }[] = await dataSource.query('SELECT event_id FROM deliveries ORDER BY 1');
  return rows.map(({ event_id }) => event_id);
};

/** What a query that takes its time does: it has looked at all days, and is not over. */
const whileReading = (work: () => Promise<void>): Promise<void> =>
  dataSource.transaction(async (reader) => {
    await reader.query('SELECT count(*) FROM deliveries');
    await work();
  });

/** Detached, or about to be: no new query sees it. */
async function hiddenDays(): Promise<number> {
  const [row]: { n: number }[] = await dataSource.query(
    `SELECT count(*)::integer AS n FROM pg_class LEFT JOIN pg_inherits ON inhrelid = pg_class.oid
      WHERE relkind = 'r' AND relname LIKE 'deliveries\\_%' AND inhdetachpending IS DISTINCT FROM false`,
  );
  return row?.n ?? 0;
}

const nothing = { type: 'detached', partitions: [], waiting: [] };

describe('A day that is expired', () => {
  it('leaves once its last moment is older than 15 days, and then its room is given back', async () => {
    await partitions.ensurePartitions(Date.UTC(2026, 5, 3), Date.UTC(2026, 5, 20));

    // At noon of the 20th the retention reaches back to noon of the 5th: the 4th is wholly older.
    const days = ['deliveries_20260603', 'deliveries_20260604'];
    expect(await partitions.detachExpired(NOW)).toEqual({ type: 'detached', partitions: days, waiting: [] });
    expect((await tables()).slice(0, 2)).toEqual(days);
    expect(await partitions.dropDetached(NOW)).toEqual({ type: 'dropped', partitions: days });
    expect((await tables())[0]).toBe('deliveries_20260605');
    // The first moment at which all of the 5th is.
    const midnight = Date.UTC(2026, 5, 21);
    expect(await partitions.detachExpired(midnight - 1)).toEqual(nothing);
    expect(await partitions.detachExpired(midnight)).toMatchObject({ partitions: ['deliveries_20260605'] });
  });

  it('is not dropped before it has left, and a day that is not expired never', async () => {
    await partitions.ensurePartitions(OLD, OLD);
    await partitions.ensurePartitions(NOW, NOW);
    await dataSource.query('ALTER TABLE deliveries DETACH PARTITION deliveries_20260620');

    expect(await partitions.dropDetached(NOW)).toEqual({ type: 'dropped', partitions: [] });
    expect(await tables()).toEqual([OLD_DAY, 'deliveries_20260620']);
  });

  it('is hidden at once, while readers and the projection go on, and has left when the last query that saw it ends', async () => {
    await writeOld('old', OLD);
    await write('recent', NOW);
    let detaching: Promise<unknown> | undefined;
    await whileReading(async () => {
      detaching = partitions.detachExpired(NOW);
      await until(async () => (await hiddenDays()) === 1);

      expect(await found()).toEqual([uuidOf('recent')]);
      await write('meanwhile', NOW + 1);
      expect(await found()).toHaveLength(2);
      expect(await tables()).toContain(OLD_DAY);
    });
    expect(await detaching).toEqual({ type: 'detached', partitions: [OLD_DAY], waiting: [] });
    await partitions.dropDetached(NOW);
    expect(await tables()).toEqual(['deliveries_20260620']);
  });

  it('gives way to a query that goes on for long, and leaves with the next run', async () => {
    await writeOld('older', OLDER);
    await writeOld('old', OLD);
    await whileReading(async () => {
      expect(await hasty.detachExpired(NOW)).toEqual({
        type: 'detached',
        partitions: [],
        waiting: [OLDER_DAY, OLD_DAY],
      });
      expect(await found()).toEqual([uuidOf('old')]);
      expect(await hasty.dropDetached(NOW)).toEqual({ type: 'dropped', partitions: [] });
      // Nor does it come back, or keep a new day from being made.
      expect(await hasty.detachExpired(NOW)).toMatchObject({ waiting: [OLDER_DAY, OLD_DAY] });
      await write('new day', NOW);
    });
    expect(await hasty.detachExpired(NOW)).toMatchObject({ partitions: [OLDER_DAY, OLD_DAY], waiting: [] });
    expect(await hasty.dropDetached(NOW)).toMatchObject({ partitions: [OLDER_DAY, OLD_DAY] });
    expect(await found()).toEqual([uuidOf('new day')]);
  });

  it('keeps a writer that needs a new day waiting no longer than it waits itself', async () => {
    await partitions.ensurePartitions(OLD, OLD);
    const patient = createDeliveryPartitions(dataSource, { lockTimeoutMs: 300, tries: 3, pauseMs: 300 });
    await whileReading(async () => {
      const detaching = patient.detachExpired(NOW);
      await until(async () => (await hiddenDays()) === 1);
      await write('new day', NOW);
      expect(await found()).toEqual([uuidOf('new day')]);
      expect(await detaching).toMatchObject({ waiting: [OLD_DAY] });
    });
  });

  it('does not wait for the projection, which writes other days', async () => {
    await partitions.ensurePartitions(OLD, OLD);
    await partitions.ensurePartitions(NOW - DAY_MS, NOW);
    await whileWriting([NOW - DAY_MS, NOW - 1_000], async () => {
      expect(await hasty.detachExpired(NOW)).toEqual({ type: 'detached', partitions: [OLD_DAY], waiting: [] });
      expect(await hasty.dropDetached(NOW)).toMatchObject({ partitions: [OLD_DAY] });
    });
  });

  it('waits for a batch that is still written into it, and hides it meanwhile', async () => {
    await partitions.ensurePartitions(OLD, OLD);
    await whileWriting([OLD, OLD + 1], async () => {
      expect(await hasty.detachExpired(NOW)).toMatchObject({ partitions: [], waiting: [OLD_DAY] });
    });
    expect(await found()).toEqual([]);
    expect(await hasty.detachExpired(NOW)).toMatchObject({ partitions: [OLD_DAY] });
  });

  it('is seen to by one process at a time', async () => {
    await partitions.ensurePartitions(OLD, OLD);
    let first: Promise<unknown> | undefined;
    await whileReading(async () => {
      first = partitions.detachExpired(NOW);
      await until(async () => (await hiddenDays()) === 1);

      expect(await partitions.detachExpired(NOW)).toEqual({ type: 'busy' });
      expect(await partitions.dropDetached(NOW)).toEqual({ type: 'busy' });
    });
    expect(await first).toMatchObject({ type: 'detached' });
  });
});

describe('A run that was killed', () => {
  it('between the steps is finished by the next, and nobody sees the day meanwhile', async () => {
    await writeOld('old', OLD);
    const killed = await createDataSource(database.url).initialize();
    await createDeliveryPartitions(killed).detachExpired(NOW);
    await killed.destroy();

    expect(await tables()).toEqual([OLD_DAY]);
    expect(await found()).toEqual([]);
    expect(await partitions.detachExpired(NOW)).toEqual(nothing);
    expect(await partitions.dropDetached(NOW)).toEqual({ type: 'dropped', partitions: [OLD_DAY] });
    expect(await tables()).toEqual([]);
  });

  it('while a day was leaving is finished by the next, before a day that is older', async () => {
    await writeOld('old', OLD);
    await whileReading(async () => {
      const killed = partitions.detachExpired(NOW).catch((error: unknown) => error);
      await until(async () => (await hiddenDays()) === 1);
      await dataSource.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%CONCURRENTLY'`);
      expect(await killed).toBeInstanceOf(Error);
    });
    expect(await found()).toEqual([]);
    await writeOld('older', OLDER);

    expect(await partitions.detachExpired(NOW)).toMatchObject({ partitions: [OLD_DAY, OLDER_DAY], waiting: [] });
    expect(await partitions.dropDetached(NOW)).toMatchObject({ partitions: [OLDER_DAY, OLD_DAY] });
    expect(await tables()).toEqual([]);
  });
});

/** With a transaction of the projection open that has written to these days, and is not the first of its connection. */
async function whileWriting(moments: readonly number[], work: () => Promise<void>): Promise<void> {
  const runner = dataSource.createQueryRunner();
  const client = (await runner.connect()) as PoolClient;
  const begin = async (name: string, expectedOffset: number | null, nextOffset: number): Promise<number | null> => {
    const attempts = moments.map((startedAt) =>
      attemptOf({ eventId: uuidOf(`${name} ${String(startedAt)}`), startedAt }),
    );
    const batch = { topic: 'attempts', partition: 0, expectedOffset, nextOffset, attempts };
    return writeAsExpected(client, batch, await expectedDeliveries(foldAttempts(attempts)));
  };
  try {
    // The first transaction of a connection asks the whole table for the bounds of the days.
    expect(await begin('first', null, 2)).toBe(2);
    await client.query('COMMIT');
    expect(await begin('second', 2, 4)).toBe(2);
    await work();
  } finally {
    await client.query('ROLLBACK');
    await runner.release();
  }
}
