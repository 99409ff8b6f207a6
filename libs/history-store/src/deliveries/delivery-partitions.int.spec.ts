import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { createDataSource } from '@waypost/database';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { until } from '../../../../test/support/until.js';
import { createFigurePartitions } from '../figures/write-figures.js';
import type { DailyPartitions } from '../partitions/daily-partitions.js';
import { attemptOf, NOW, uuidOf } from './attempt-samples.contract.js';
import { createDeliveryPartitions } from './delivery-partitions.js';
import { foldAttempts } from './fold-attempts.js';
import { createDeliveryProjection } from './postgres-delivery-projection.js';
import { applyWrites, prepareWrites } from './write-deliveries.js';

const DAY_MS = 86_400_000;
/** Two days that are entirely older than 16 days, and their tables. */
const OLDER = NOW - 21 * DAY_MS;
const OLD = NOW - 20 * DAY_MS;
const OLDER_DAY = 'deliveries_20260530';
const OLD_DAY = 'deliveries_20260531';

let database: TestDatabase;
let dataSource: DataSource;
let partitions: DailyPartitions;
/** Yields to readers at once. */
let impatient: DailyPartitions;

beforeAll(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  dataSource = await createDataSource(database.url, { poolSize: 8 }).initialize();
  partitions = createDeliveryPartitions(dataSource);
  impatient = createDeliveryPartitions(dataSource, { lockTimeoutMs: 50, tries: 2, pauseMs: 1 });
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});
beforeEach(async () => {
  for (const name of await tables()) await dataSource.query(`DROP TABLE ${name}`);
  await dataSource.query('DELETE FROM projection_positions');
});

/** The tables of days, attached or detached. */
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

describe('ensurePartitions', () => {
  it('creates one partition per UTC day, for both times and the days between', async () => {
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
    await write('first', Date.UTC(2026, 5, 20));
    await write('last', Date.UTC(2026, 5, 21) - 1);

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

  it('lets any number of callers create the same days', async () => {
    const all = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(() => partitions.ensurePartitions(NOW - 3 * DAY_MS, NOW + DAY_MS)),
    );
    expect(all.flat().sort()).toEqual(await tables());
    expect(await tables()).toHaveLength(5);
  });

  it('does not wait for a reader or for a writer of other days', async () => {
    await partitions.ensurePartitions(NOW, NOW);
    await dataSource.transaction(async (open) => {
      await open.query('SELECT count(*) FROM deliveries');
      await open.query('DELETE FROM deliveries WHERE false');
      expect(await partitions.ensurePartitions(NOW + DAY_MS, NOW + DAY_MS)).toEqual(['deliveries_20260621']);
    });
  });
});

function writeOld(name: string, firstAttemptAt: number): Promise<void> {
  return write(name, firstAttemptAt, firstAttemptAt);
}

async function found(): Promise<string[]> {
  const rows: { event_id: string }[] = await dataSource.query('SELECT event_id FROM deliveries ORDER BY 1');
  return rows.map(({ event_id }) => event_id);
}

/** Like a long query: it has read all days and is still running. */
function whileReading(work: () => Promise<void>): Promise<void> {
  return dataSource.transaction(async (reader) => {
    await reader.query('SELECT count(*) FROM deliveries');
    await work();
  });
}

/** Days that are detached or detaching: no new query sees them. */
async function hiddenDays(): Promise<number> {
  const [row]: { n: number }[] = await dataSource.query(
    `SELECT count(*)::integer AS n FROM pg_class LEFT JOIN pg_inherits ON inhrelid = pg_class.oid
      WHERE relkind = 'r' AND relname LIKE 'deliveries\\_%' AND inhdetachpending IS DISTINCT FROM false`,
  );
  return row?.n ?? 0;
}

const nothing = { type: 'detached', partitions: [], waiting: [] };

describe('An expired day', () => {
  it('is detached once its last millisecond is older than 15 days and the 24 hours of a walk (R-34, R-35), and then dropped', async () => {
    await partitions.ensurePartitions(Date.UTC(2026, 5, 2), Date.UTC(2026, 5, 20));

    // A walk that began at noon of the 19th, a token ago, began at noon of the 4th: all of the 3rd is older.
    const days = ['deliveries_20260602', 'deliveries_20260603'];
    expect(await partitions.detachExpired(NOW)).toEqual({ type: 'detached', partitions: days, waiting: [] });
    expect((await tables()).slice(0, 2)).toEqual(days);
    expect(await partitions.dropDetached(NOW)).toEqual({ type: 'dropped', partitions: days });
    expect((await tables())[0]).toBe('deliveries_20260604');
    // The first time at which all of the 4th is older.
    const midnight = Date.UTC(2026, 5, 21);
    expect(await partitions.detachExpired(midnight - 1)).toEqual(nothing);
    expect(await partitions.detachExpired(midnight)).toMatchObject({ partitions: ['deliveries_20260604'] });
  });

  it('leaves no setting of its own on the connection, which others get after it', async () => {
    const single = await createDataSource(database.url, { poolSize: 1 }).initialize();
    const settings = (): Promise<unknown> =>
      single.query("SELECT current_setting('lock_timeout') AS lock, current_setting('synchronous_commit') AS commit");
    const before = await settings();
    const own = createDeliveryPartitions(single);
    await own.detachExpired(NOW);
    await own.dropDetached(NOW);
    expect(await settings()).toEqual(before);
    await single.destroy();
  });

  it('is not dropped before it is detached, and a day that is not expired is never dropped', async () => {
    await partitions.ensurePartitions(OLD, OLD);
    await partitions.ensurePartitions(NOW, NOW);
    await dataSource.query('ALTER TABLE deliveries DETACH PARTITION deliveries_20260620');

    expect(await partitions.dropDetached(NOW)).toEqual({ type: 'dropped', partitions: [] });
    expect(await tables()).toEqual([OLD_DAY, 'deliveries_20260620']);
  });

  it('is hidden at once, while readers and the projection continue, and detached when the last query that saw it ends', async () => {
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

  it('yields to a long query, and is detached by the next run', async () => {
    await writeOld('older', OLDER);
    await writeOld('old', OLD);
    await whileReading(async () => {
      expect(await impatient.detachExpired(NOW)).toEqual({
        type: 'detached',
        partitions: [],
        waiting: [OLDER_DAY, OLD_DAY],
      });
      expect(await found()).toEqual([uuidOf('old')]);
      expect(await impatient.dropDetached(NOW)).toEqual({ type: 'dropped', partitions: [] });
      // It does not reappear, and a new day can be created.
      expect(await impatient.detachExpired(NOW)).toMatchObject({ waiting: [OLDER_DAY, OLD_DAY] });
      await write('new day', NOW);
    });
    expect(await impatient.detachExpired(NOW)).toMatchObject({ partitions: [OLDER_DAY, OLD_DAY], waiting: [] });
    expect(await impatient.dropDetached(NOW)).toMatchObject({ partitions: [OLDER_DAY, OLD_DAY] });
    expect(await found()).toEqual([uuidOf('new day')]);
  });

  it('delays a writer that needs a new day no longer than its own lock timeout', async () => {
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
      expect(await impatient.detachExpired(NOW)).toEqual({ type: 'detached', partitions: [OLD_DAY], waiting: [] });
      expect(await impatient.dropDetached(NOW)).toMatchObject({ partitions: [OLD_DAY] });
    });
  });

  it('is not detached while a batch is written to it, but hidden', async () => {
    await partitions.ensurePartitions(OLD, OLD);
    await whileWriting([OLD, OLD + 1], async () => {
      expect(await impatient.detachExpired(NOW)).toMatchObject({ partitions: [], waiting: [OLD_DAY] });
    });
    expect(await found()).toEqual([]);
    expect(await impatient.detachExpired(NOW)).toMatchObject({ partitions: [OLD_DAY] });
  });

  it('is handled by one process at a time', async () => {
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

describe('A killed retention run', () => {
  it('between the steps is finished by the next run, and no query sees the day meanwhile', async () => {
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

  it('in the middle of a detach is finished by the next run, before an older day', async () => {
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

/** Runs `work` while a transaction of the projection, not the first of its connection, has written to these days. */
async function whileWriting(times: readonly number[], work: () => Promise<void>): Promise<void> {
  for (const time of times) await createFigurePartitions(dataSource).ensurePartitions(time, time);
  const runner = dataSource.createQueryRunner();
  const client = (await runner.connect()) as PoolClient;
  const begin = async (name: string, expectedOffset: number | null, nextOffset: number): Promise<number | null> => {
    const attempts = times.map((startedAt) =>
      attemptOf({ eventId: uuidOf(`${name} ${String(startedAt)}`), startedAt }),
    );
    const batch = { topic: 'attempts', partition: 0, expectedOffset, nextOffset, attempts };
    return applyWrites(client, batch, await prepareWrites(foldAttempts(attempts)));
  };
  try {
    // The first transaction of a connection reads the bounds of all days.
    expect(await begin('first', null, 2)).toBe(2);
    await client.query('COMMIT');
    expect(await begin('second', 2, 4)).toBe(2);
    await work();
  } finally {
    await client.query('ROLLBACK');
    await runner.release();
  }
}
