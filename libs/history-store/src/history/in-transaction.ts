import type { Client, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';

/** A transaction takes tens of milliseconds; one of thousands of rows on a busy server a second or two. */
const PATIENCE_MS = 30_000;

/**
 * Gives `work` a connection of the pool as pg knows it, for what TypeORM has no words for: COPY, and prepared statements.
 * The work begins its transaction itself, together with the first statement. It is committed unless the work resolves to
 * null or rejects.
 *
 * A connection on which nothing comes back is cut off after `patienceMs`: the work rejects with a connection loss, and
 * whether the transaction took effect is unknown.
 */
export async function inTransaction<T>(
  dataSource: DataSource,
  work: (client: PoolClient) => Promise<T | null>,
  patienceMs = PATIENCE_MS,
): Promise<T | null> {
  const runner = dataSource.createQueryRunner();
  try {
    const client = (await runner.connect()) as PoolClient;
    // Breaks the connection when a query is under way; what waits for its answer is rejected.
    const watchdog = setTimeout(() => void (client as unknown as Client).end(), patienceMs);
    try {
      const result = await work(client);
      await client.query(result === null ? 'ROLLBACK' : 'COMMIT');
      return result;
    } catch (error) {
      // Of a connection that is gone nothing is left to roll back; the first error is the one to tell.
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      clearTimeout(watchdog);
    }
  } finally {
    await runner.release();
  }
}
