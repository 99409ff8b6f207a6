/** SQL by hand: it reads the server's list of sessions. */
import { createDataSource } from '@waypost/database';

export interface StalledSessions {
  readonly databaseUrl: string;
  /** The application whose sessions are ended, as in pg_stat_activity. */
  readonly applicationName: string;
  readonly stalledForMs: number;
}

/**
 * Ends sessions that have waited too long for the data of a COPY: their process was stopped, or its machine is gone, in
 * the middle of a batch. No timeout of the server covers this (the session is not idle), and its locks would block
 * every other writer of the partition. The batch is rolled back; if its process resumes, it finds its connection gone.
 * Resolves to the number of sessions.
 *
 * Uses a separate connection: those of a pool may all be waiting for these locks.
 */
export async function endStalledSessions(sessions: StalledSessions): Promise<number> {
  const settings = { poolSize: 1, applicationName: 'waypost end-stalled-sessions' };
  const dataSource = await createDataSource(sessions.databaseUrl, settings).initialize();
  try {
    const ended: { pid: number }[] = await dataSource.query(END, [sessions.applicationName, sessions.stalledForMs]);
    return ended.length;
  } finally {
    await dataSource.destroy();
  }
}

/** Only during a COPY is an active session waiting for its client to send something. */
const END = `
  SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
   WHERE datname = current_database() AND usename = current_user AND application_name = $1
     AND state = 'active' AND wait_event = 'ClientRead' AND backend_xid IS NOT NULL
     AND query_start < clock_timestamp() - $2 * interval '1 millisecond'`;
