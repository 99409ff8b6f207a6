import type pg from 'pg';
import { until } from './until.js';

/** Resolves once this many sessions of the database wait for locks of others. `sql` may be in a transaction. */
export async function untilWaitingForLocks(sql: pg.Client, sessions: number): Promise<void> {
  await until(async () => {
    // A transaction sees what it has seen of the sessions before.
    await sql.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await sql.query<{ n: number }>(
      "SELECT count(*)::integer AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return (rows[0]?.n ?? 0) >= sessions;
  });
}
