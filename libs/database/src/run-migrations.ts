import { createDataSource } from './data-source.js';

/** Any fixed number: the advisory lock that concurrent migrators queue on. */
const MIGRATION_LOCK = 7_215_001;

/**
 * Brings the database to the newest migration and resolves to the names of those that ran. Any number of processes may call
 * it at once: one migrates, the others wait for it and find nothing to do.
 */
export async function runMigrations(databaseUrl: string): Promise<readonly string[]> {
  const dataSource = createDataSource(databaseUrl, { poolSize: 2, applicationName: 'waypost-migrations' });
  await dataSource.initialize();
  try {
    const lockHolder = dataSource.createQueryRunner();
    await lockHolder.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      const ran = await dataSource.runMigrations({ transaction: 'each' });
      return ran.map((migration) => migration.name);
    } finally {
      await lockHolder.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
      await lockHolder.release();
    }
  } finally {
    await dataSource.destroy();
  }
}
