import { createDataSource } from '@waypost/database';

export interface StalledSessions {
  readonly databaseUrl: string;
  /** Whose sessions, as in pg_stat_activity. */
  readonly applicationName: string;
  readonly stalledForMs: number;
}

/**
 * Ends sessions that are in the middle of a COPY and have been waiting for its data for too long: their process was
 * stopped, or its machine is gone, while rows were on their way. No timeout of the server covers that (the session is not
 * idle), and its locks would keep everybody else from the partition. The batch is rolled back; whoever owns it, if it
 * wakes up, finds its connection gone. Resolves to the number of sessions.
 *
 * On a connection of its own: those of a pool may all be waiting for these very locks.
 */
export async function endStalledSessions(of: StalledSessions): Promise<number> {
  const settings = { poolSize: 1, applicationName: 'waypost end-stalled-sessions' };
  const dataSource = await createDataSource(of.databaseUrl, settings).initialize();
  try {
    const ended: { pid: number }[] = await dataSource.query(END, [of.applicationName, of.stalledForMs]);
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
