import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';

/**
 * Gives `work` a connection of the pool as pg knows it, for what TypeORM has no words for: COPY, and prepared statements.
 * The work begins its transaction itself, together with the first statement. It is committed unless the work resolves to
 * null or rejects.
 */
export async function inTransaction<T>(
  dataSource: DataSource,
  work: (client: PoolClient) => Promise<T | null>,
): Promise<T | null> {
  const runner = dataSource.createQueryRunner();
  try {
    const client = (await runner.connect()) as PoolClient;
    try {
      const result = await work(client);
      await client.query(result === null ? 'ROLLBACK' : 'COMMIT');
      return result;
    } catch (error) {
      // Of a connection that is gone nothing is left to roll back; the first error is the one to tell.
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  } finally {
    await runner.release();
  }
}
