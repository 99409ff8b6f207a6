import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import pg from 'pg';
import { type ManagementStore, openManagementStore } from '@waypost/management-store';
import { createTestDatabase } from './test-database.js';
import { requireTestStack } from './test-stack.js';

/** A database of its own with the stores on it, and a connection for plain SQL. */
export interface TestStore {
  /** Of a superuser. */
  readonly databaseUrl: string;
  /** Of a login with the rights of public-api, which `store` has. */
  readonly apiUrl: string;
  readonly store: ManagementStore;
  readonly sql: pg.Client;
  /** Drops the database. */
  close(): Promise<void>;
}

export async function openTestStore(): Promise<TestStore> {
  const database = await createTestDatabase(requireTestStack().databaseUrl);
  const store = await openManagementStore(database.apiUrl);
  const sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  return {
    databaseUrl: database.url,
    apiUrl: database.apiUrl,
    store,
    sql,
    async close() {
      await sql.end();
      await store.close();
      await database.drop();
    },
  };
}

/** The database of a spec file, and a new fleet for each of its tests. */
export interface TestStoreSuite extends Omit<TestStore, 'close'> {
  readonly fleetId: string;
}

/** Opens a database before the tests of a file and drops it after them; the fleets are created at `nowMs`. */
export function useTestStore(nowMs = 1_000): TestStoreSuite {
  let database: TestStore;
  const suite = {} as TestStoreSuite;
  beforeAll(async () => {
    database = await openTestStore();
    Object.assign(suite, database);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    const fleetId = `fleet-${randomBytes(4).toString('hex')}`;
    await suite.store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs });
    Object.assign(suite, { fleetId });
  });
  return suite;
}
