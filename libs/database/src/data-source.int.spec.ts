import { describe, expect, it } from '@jest/globals';
import { openTcpProxy } from '../../../test/support/tcp-proxy.js';
import { createTestDatabase } from '../../../test/support/test-database.js';
import { createDataSource, runMigrations } from './data-source.js';
import { isConnectionLoss } from './database-errors.js';
import { migrations } from './migrations/index.js';

it('createDataSource: a query on a silent connection fails, and the next uses another', async () => {
  const proxy = await openTcpProxy(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  const dataSource = await createDataSource(proxy.databaseUrl, { statementTimeoutMs: 200 }).initialize();
  try {
    proxy.silence();
    const outcome: unknown = await dataSource.query('SELECT 1').catch((error: unknown) => error);
    expect(isConnectionLoss(outcome)).toBe(true);
    expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  } finally {
    await proxy.close();
    await dataSource.destroy();
  }
});

const names = migrations.map(({ name }) => name);

describe('runMigrations', () => {
  it('migrates once for concurrent callers, and every migration can be reverted', async () => {
    const database = await createTestDatabase(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
    try {
      await undoAll(database.url);
      const ran = await Promise.all([1, 2, 3, 4].map(() => runMigrations(database.url)));

      expect(ran.filter((list) => list.length > 0)).toEqual([names]);
      expect(await runMigrations(database.url)).toEqual([]);
    } finally {
      await database.drop();
    }
  });
});

/** Reverts to a database with only TypeORM's list of migrations. */
async function undoAll(databaseUrl: string): Promise<void> {
  const dataSource = await createDataSource(databaseUrl).initialize();
  try {
    for (let left = names.length; left > 0; left -= 1) await dataSource.undoLastMigration();
    const tables: { name: string }[] = await dataSource.query(
      `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace`,
    );
    expect(tables).toEqual([{ name: 'migrations' }]);
  } finally {
    await dataSource.destroy();
  }
}
