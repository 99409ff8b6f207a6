import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { runMigrations } from '@waypost/database';
import { until } from './until.js';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates a migrated database on the test server (WAYPOST_TEST_DATABASE_URL). */
export async function createTestDatabase(serverUrl: string): Promise<TestDatabase> {
  const database = await createEmptyDatabase(serverUrl);
  await runMigrations(database.url);
  return database;
}

export async function createEmptyDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`) };
}

/** Everything in the outbox of the database has been published. */
export function untilOutboxEmpty(sql: pg.Client): Promise<void> {
  return until(async () => {
    const { rowCount } = await sql.query('SELECT FROM outbox WHERE published_at IS NULL');
    if (rowCount !== 0) throw new Error(`The outbox still has ${String(rowCount)} changes to publish.`);
  });
}

async function onServer(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
