import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { requireTestStack } from '../../../test/support/test-stack.js';
import { until } from '../../../test/support/until.js';
import { createDataSource } from './data-source.js';
import { isLockTimeout } from './database-errors.js';
import { compareSchema, MIGRATION_LOCK, MIGRATIONS, runMigrations } from './migrate.js';
import { FleetRoutes1760000800000 } from './migrations/fleet-routes-1760000800000.js';
import { migrations } from './migrations/index.js';
import { PageKeys1760000700000 } from './migrations/page-keys-1760000700000.js';

const names = migrations.map(({ name }) => name);
const routes = migrations.indexOf(FleetRoutes1760000800000);

let database: TestDatabase;
let dataSource: DataSource;
beforeEach(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  dataSource = await createDataSource(database.url).initialize();
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

async function undo(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) await dataSource.undoLastMigration();
}

async function connectedMigrators(): Promise<number> {
  const rows: unknown[] = await dataSource.query(
    'SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1',
    [MIGRATIONS],
  );
  return rows.length;
}

describe('runMigrations', () => {
  it('migrates once for concurrent callers, and every migration can be reverted', async () => {
    await undo(names.length);
    const tables: { name: string }[] = await dataSource.query(
      `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace`,
    );
    expect(tables).toEqual([{ name: 'migrations' }]);

    const ran = await Promise.all([1, 2, 3, 4].map(() => runMigrations(database.url)));

    expect(ran.filter((list) => list.length > 0)).toEqual([names]);
    expect(await runMigrations(database.url)).toEqual([]);
  });

  it('lets one migrator index a table with days while others wait for it, which neither holds up', async () => {
    await undo(names.length - migrations.indexOf(PageKeys1760000700000));
    await dataSource.query(
      `CREATE TABLE deliveries_20260504 PARTITION OF deliveries FOR VALUES FROM ('2026-05-04') TO ('2026-05-05')`,
    );
    const ran = await Promise.all([1, 2, 3].map(() => runMigrations(database.url)));
    expect(ran.filter((list) => list.length > 0)).toHaveLength(1);
    expect(await compareSchema(dataSource)).toEqual({ type: 'same' });
  });

  it('gives up a change that waits for a table in use, keeps those before it and goes on there when called again', async () => {
    await undo(names.length - routes + 1);
    const user = dataSource.createQueryRunner();
    await user.startTransaction();
    await user.query('SELECT FROM fleets');

    const outcome: unknown = await runMigrations(database.url).catch((error: unknown) => error);
    expect(isLockTimeout(outcome)).toBe(true);
    expect(await compareSchema(dataSource)).toEqual({ type: 'behind', missing: names.slice(routes) });
    await user.commitTransaction();
    await user.release();

    expect(await runMigrations(database.url)).toEqual(names.slice(routes));
  });

  it('stops waiting for another that migrates when it is told to, and leaves no connection', async () => {
    const other = dataSource.createQueryRunner();
    await other.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const stop = new AbortController();
    const outcome = runMigrations(database.url, stop.signal).catch((error: unknown) => error);
    await until(async () => (await connectedMigrators()) > 0);

    stop.abort(new Error('Stopped.'));

    expect(await outcome).toEqual(new Error('Stopped.'));
    await until(async () => (await connectedMigrators()) === 0);
    await other.release();
  });
});

describe('compareSchema', () => {
  it('finds a database that has had all migrations of this build, and no others', async () => {
    expect(await compareSchema(dataSource)).toEqual({ type: 'same' });
  });

  it('names what an empty database lacks: everything', async () => {
    await dataSource.query('DROP TABLE migrations');
    expect(await compareSchema(dataSource)).toEqual({ type: 'behind', missing: names });
  });

  it('names what a newer build has done, even if something is missing too', async () => {
    await undo(1);
    await dataSource.query("INSERT INTO migrations (timestamp, name) VALUES (1900000000000, 'Later1900000000000')");
    expect(await compareSchema(dataSource)).toEqual({ type: 'ahead', unknown: ['Later1900000000000'] });
  });
});
