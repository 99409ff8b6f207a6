import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { createDataSource } from './data-source.js';
import { grantRights } from './database-roles.js';
import { migrations } from './migrations/index.js';

/** Any fixed number: the advisory lock that concurrent migrators queue on. */
export const MIGRATION_LOCK = 7_215_001;

const TURN_POLL_MS = 200;

/**
 * A change of a table waits for the transactions that use it, and those that come later wait behind the change: so it gives up
 * soon. The migrator tries again, and migrations that are done stay done.
 */
const LOCK_TIMEOUT_MS = 3_000;

/** In pg_stat_activity. */
export const MIGRATIONS = 'waypost-migrations';

/**
 * Migrates to the newest, grants the rights of the applications (`database-roles.ts`), and resolves to the names of those that
 * ran. Any number of processes may call it at once: one migrates, the others wait for it and find nothing to do.
 * @param signal ends the wait for another that migrates
 * @throws an error of which `isLockTimeout` is true when a table is in use for long; call it again
 */
export async function runMigrations(databaseUrl: string, signal?: AbortSignal): Promise<readonly string[]> {
  const dataSource = createDataSource(databaseUrl, {
    poolSize: 2,
    applicationName: MIGRATIONS,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    seesAllFleets: true,
  });
  await dataSource.initialize();
  try {
    return await migrateInTurn(dataSource, signal);
  } finally {
    await dataSource.destroy();
  }
}

async function migrateInTurn(dataSource: DataSource, signal?: AbortSignal): Promise<readonly string[]> {
  const lockHolder = dataSource.createQueryRunner();
  try {
    await waitForTurn(lockHolder, signal);
    try {
      const ran = await dataSource.runMigrations();
      await grantRights(dataSource.manager);
      return ran.map((migration) => migration.name);
    } finally {
      await lockHolder.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    // The end of the data source would wait for a connection that is still held.
    await lockHolder.release();
  }
}

/**
 * Asks again and again, however long the migrations of another take. A session that waits in `pg_advisory_lock` has a
 * snapshot, for whose end `CREATE INDEX CONCURRENTLY` of the holder would wait: neither would ever continue.
 */
async function waitForTurn(lockHolder: QueryRunner, signal?: AbortSignal): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const [turn] = (await lockHolder.query('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK])) as readonly [
      { readonly taken: boolean },
    ];
    if (turn.taken) return;
    await sleep(TURN_POLL_MS);
  }
}

export type SchemaComparison =
  | { readonly type: 'same' }
  | { readonly type: 'behind'; readonly missing: readonly string[] }
  /** A newer build has migrated it. */
  | { readonly type: 'ahead'; readonly unknown: readonly string[] };

export async function compareSchema(dataSource: DataSource): Promise<SchemaComparison> {
  const known = new Set(migrations.map(({ name }) => name));
  const had = new Set(await migrationsOf(dataSource));
  const unknown = [...had].filter((name) => !known.has(name));
  if (unknown.length > 0) return { type: 'ahead', unknown };
  const missing = [...known].filter((name) => !had.has(name));
  return missing.length > 0 ? { type: 'behind', missing } : { type: 'same' };
}

async function migrationsOf(dataSource: DataSource): Promise<readonly string[]> {
  const [table] = await dataSource.query<{ exists: boolean }[]>(
    "SELECT to_regclass('migrations') IS NOT NULL AS exists",
  );
  if (table?.exists !== true) return [];
  const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id');
  return rows.map(({ name }) => name);
}
