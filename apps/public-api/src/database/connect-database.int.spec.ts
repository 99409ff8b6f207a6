import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createDataSource } from '@waypost/database';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { connectDatabase } from './connect-database.js';

let database: TestDatabase;
let dataSource: DataSource;
beforeEach(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  dataSource = createDataSource(database.url);
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

async function change(sql: string): Promise<void> {
  const other = await createDataSource(database.url).initialize();
  await other.query(sql);
  await other.destroy();
}

it('public-api connects to a database that has had the migrations of this build', async () => {
  await connectDatabase(dataSource);
  expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

it('public-api does not start on a database that lacks a migration, and says what brings it up to date', async () => {
  await change("DELETE FROM migrations WHERE name = 'ReplayedEvent1760001000000'");

  await expect(connectDatabase(dataSource)).rejects.toMatchObject({
    code: 'database_schema',
    message: expect.stringMatching(/^The database lacks ReplayedEvent1760001000000: start history-projector/),
  });
});

it('public-api does not start on a database that a newer version has changed, and names the change', async () => {
  await change("INSERT INTO migrations (timestamp, name) VALUES (1900000000000, 'Later1900000000000')");

  await expect(connectDatabase(dataSource)).rejects.toMatchObject({
    code: 'database_schema',
    message: expect.stringContaining('(Later1900000000000): start that version'),
  });
});

it('public-api does not start with a login that has no rights on the tables, and says which it needs', async () => {
  dataSource = createDataSource(database.projectorUrl);
  await change('REVOKE SELECT ON migrations FROM waypost_projector');

  await expect(connectDatabase(dataSource)).rejects.toMatchObject({
    code: 'database_refused',
    message: expect.stringMatching(/permission denied for table migrations\): this login lacks rights: .*waypost_api/),
  });
});
