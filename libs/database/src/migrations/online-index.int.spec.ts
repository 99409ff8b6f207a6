import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource, QueryRunner } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { until } from '../../../../test/support/until.js';
import { createDataSource } from '../data-source.js';
import { createIndexOnline, createPlainIndexOnline } from './online-index.js';

const INDEX = { name: 'stays_by_number', table: 'stays', columns: 'number, at' };
const BUILDING = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'`;

let database: TestDatabase;
let dataSource: DataSource;
let writer: QueryRunner;

beforeEach(async () => {
  database = await createTestDatabase(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  dataSource = await createDataSource(database.url).initialize();
  await dataSource.query('CREATE TABLE stays (at date NOT NULL, number int NOT NULL) PARTITION BY RANGE (at)');
  for (const day of [4, 5]) await addDay(day);
  await dataSource.query("INSERT INTO stays SELECT '2026-05-04', n FROM generate_series(1, 1000) AS n");
  // A transaction that has written and stays open: no index of this day can be finished before its end.
  writer = dataSource.createQueryRunner();
  await writer.startTransaction();
  await writer.query("INSERT INTO stays_04 VALUES ('2026-05-04', -1)");
});

afterEach(async () => {
  await writer.release();
  await dataSource.destroy();
  await database.drop();
});

async function addDay(day: number): Promise<void> {
  await dataSource.query(
    `CREATE TABLE stays_0${String(day)} PARTITION OF stays FOR VALUES FROM ('2026-05-0${String(day)}') TO ('2026-05-0${String(day + 1)}')`,
  );
}

async function create(make: (runner: QueryRunner) => Promise<void> = ofDays): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await make(runner);
  } finally {
    await runner.release();
  }
}

const ofDays = (runner: QueryRunner): Promise<void> => createIndexOnline(runner, INDEX);

/** Its process, once it waits for the writer. */
async function builder(): Promise<number> {
  return until(async () => {
    const [waiting] = await dataSource.query<{ pid: number }[]>(BUILDING);
    if (waiting === undefined) throw new Error('No index is waiting to be built.');
    return waiting.pid;
  });
}

async function interrupt(made: Promise<void>): Promise<void> {
  const outcome = made.then(
    () => 'finished',
    () => 'interrupted',
  );
  await dataSource.query('SELECT pg_cancel_backend($1)', [await builder()]);
  expect(await outcome).toBe('interrupted');
}

async function indexes(): Promise<Record<string, boolean>> {
  const rows = await dataSource.query<{ name: string; valid: boolean }[]>(
    `SELECT c.relname AS name, i.indisvalid AS valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE c.relname LIKE 'stays%'`,
  );
  return Object.fromEntries(rows.map(({ name, valid }) => [name, valid]));
}

const EVERYWHERE = {
  stays_by_number: true,
  stays_04_stays_by_number: true,
  stays_05_stays_by_number: true,
};

describe('an index that is made online', () => {
  it('is there for every day, and no writer waits for it', async () => {
    const made = create();
    await builder();
    const other = dataSource.createQueryRunner();
    await other.query("SET lock_timeout = '2s'");
    await other.query("INSERT INTO stays VALUES ('2026-05-04', -2), ('2026-05-05', -3)");
    await other.release();
    await writer.commitTransaction();
    await made;
    expect(await indexes()).toEqual(EVERYWHERE);
  });

  it('is finished by a later run after an interruption, and days that came in between have it', async () => {
    await interrupt(create());
    expect(await indexes()).toMatchObject({ stays_by_number: false, stays_04_stays_by_number: false });
    await writer.commitTransaction();
    await addDay(6);

    await create();
    expect(await indexes()).toEqual({ ...EVERYWHERE, stays_06_number_at_idx: true });
    await create();
    expect(await indexes()).toEqual({ ...EVERYWHERE, stays_06_number_at_idx: true });
  });
});

describe('an index of a table without days that is made online', () => {
  const inPlace = (runner: QueryRunner): Promise<void> =>
    createPlainIndexOnline(runner, { name: 'stays_plain', table: 'stays_04', columns: 'number', where: 'number > 0' });

  it('is there for the rows that it names, and no writer waits for it', async () => {
    const made = create(inPlace);
    await builder();
    const other = dataSource.createQueryRunner();
    await other.query("SET lock_timeout = '2s'");
    await other.query("INSERT INTO stays_04 VALUES ('2026-05-04', -2)");
    await other.release();
    await writer.commitTransaction();
    await made;
    expect(await indexes()).toEqual({ stays_plain: true });
    const [row] = await dataSource.query<{ made: string }[]>("SELECT pg_get_indexdef('stays_plain'::regclass) AS made");
    expect(row?.made).toMatch(/\(number\) WHERE \(number > 0\)$/);
  });

  it('is finished by a later run after an interruption, and a run after that changes nothing', async () => {
    await interrupt(create(inPlace));
    expect(await indexes()).toEqual({ stays_plain: false });
    await writer.commitTransaction();
    await create(inPlace);
    expect(await indexes()).toEqual({ stays_plain: true });
    await create(inPlace);
    expect(await indexes()).toEqual({ stays_plain: true });
  });
});
