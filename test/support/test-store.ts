import pg from 'pg';
import { type ManagementStore, openManagementStore } from '@waypost/management-store';
import { createTestDatabase } from './test-database.js';

/** A database of its own with the stores on it, and a connection for plain SQL. */
export interface TestStore {
  readonly databaseUrl: string;
  readonly store: ManagementStore;
  readonly sql: pg.Client;
  /** Drops the database. */
  close(): Promise<void>;
}

export async function openTestStore(): Promise<TestStore> {
  const database = await createTestDatabase(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  const store = await openManagementStore(database.url);
  const sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  return {
    ...{ databaseUrl: database.url, store, sql },
    async close() {
      await sql.end();
      await store.close();
      await database.drop();
    },
  };
}
