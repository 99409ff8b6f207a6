import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { API_ROLE, PROJECTOR_ROLE, runMigrations } from '@waypost/database';
import { until } from './until.js';

export interface TestDatabase {
  /** Of a superuser, to whom row-level security does not apply. */
  readonly url: string;
  /** Of a login with the rights of public-api. */
  readonly apiUrl: string;
  /** Of a login with the rights of history-projector. */
  readonly projectorUrl: string;
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
  await onServer(serverUrl, CREATE_LOGINS, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const urlOf = (login: string): string => {
    const of = new URL(url);
    Object.assign(of, { username: login, password: login });
    return of.href;
  };
  return {
    url: url.href,
    apiUrl: urlOf('test_api'),
    projectorUrl: urlOf('test_projector'),
    drop: () => onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

/** Roles are of the server, and other specs create them at the same time. */
const CREATE_LOGINS = [API_ROLE, PROJECTOR_ROLE]
  .map((role) => {
    const login = role.replace('waypost', 'test');
    const create = `CREATE ROLE ${role} NOLOGIN; CREATE ROLE ${login} LOGIN PASSWORD '${login}' IN ROLE ${role}`;
    return `BEGIN ${create}; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END`;
  })
  .map((block) => `DO $$ ${block} $$`)
  .join('; ');

/** Everything in the outbox of the database has been published. */
export function untilOutboxEmpty(sql: pg.Client): Promise<void> {
  return until(async () => {
    const { rowCount } = await sql.query('SELECT FROM outbox WHERE published_at IS NULL');
    if (rowCount !== 0) throw new Error(`The outbox still has ${String(rowCount)} changes to publish.`);
  });
}

async function onServer(serverUrl: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}
