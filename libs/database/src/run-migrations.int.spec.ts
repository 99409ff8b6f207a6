import { describe, expect, it } from '@jest/globals';
import { createDataSource } from './data-source.js';
import { createTestDatabase } from '../../../test/support/test-database.js';
import { migrations } from './migrations/index.js';
import { runMigrations } from './run-migrations.js';

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
