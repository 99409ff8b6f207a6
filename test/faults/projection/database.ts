import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { runMigrations } from '@waypost/database';
import { openDataDir } from '../../../tools/dev-stack/data-dir/data-dir.js';
import { startEmbeddedPostgres } from '../../../tools/dev-stack/postgres/embedded-postgres.js';
import { waitUntil } from '../../../tools/dev-stack/processes/wait-until.js';
import { silentReporter } from '../../../tools/dev-stack/stack-reporter.js';
import { childrenOf, limitDisk } from '../shared/disk-full.js';
import type { Place } from '../shared/fault-suite.js';

/** A PostgreSQL of our own that can be stopped, started again and killed, always at the same address. */
export interface Database {
  readonly url: string;
  readonly port: number;
  /** As an administrator does it; resolves when it is down. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** SIGKILL to the server; it is started again at once. Resolves when it answers. */
  kill(): Promise<void>;
  /** Meanwhile no file grows; a server that ends because of that is started again. Resolves when it answers. */
  fillDisk(forMs: number): Promise<void>;
  /** SIGKILL to one process that serves a projector. @returns whether there was one */
  killBackend(): Promise<boolean>;
  /** Ends the sessions of projectors. @returns how many */
  terminate(which: 'all' | 'those that have written'): Promise<number>;
  /** On a connection of its own. */
  query<T>(work: (client: pg.Client) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const NAME = 'waypost';
const ANSWERS_WITHIN_MS = 60_000;
const FULL_AGAIN_MS = 100;
/** `backend_xid` is set once a transaction has written. */
const PROJECTORS = "application_name = 'waypost history-projector' AND datname = current_database()";

export async function openDatabase(place: Place): Promise<Database> {
  const { guardian, env } = place;
  const dataDir = await openDataDir(join(place.dataDir.path, 'database'));
  const port = await dataDir.port('postgres');
  const start = () =>
    startEmbeddedPostgres(
      {
        // A later start has to listen where the first one did.
        dataDir: { ...dataDir, port: () => Promise.resolve(port) },
        guardian,
        reporter: silentReporter,
        environment: env,
        cacheDir: '',
        java: '',
        started: [],
        onReplaced: () => undefined,
      },
      { databases: [NAME], durable: true },
    );
  let part = await start();
  const url = part.address(NAME);
  await runMigrations(url);

  async function query<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  /** `before` each try: the kernel's list of children may lack some while others end. */
  const untilItAnswers = (before = (): Promise<void> => Promise.resolve()): Promise<unknown> =>
    waitUntil(() => before().then(() => query((client) => client.query('SELECT 1'))), { timeoutMs: ANSWERS_WITHIN_MS });

  async function limitServer(limit: 'full' | 'free'): Promise<void> {
    const server = part.process.pid();
    if (server === undefined) return;
    await limitDisk(server, limit);
    await Promise.all((await childrenOf(server)).map((pid) => limitDisk(pid, limit)));
  }

  return {
    url,
    port,
    query,
    stop: () => part.process.stop(),
    async start() {
      part = await start();
    },
    async kill() {
      const pid = part.process.pid();
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
      await untilItAnswers();
    },
    async fillDisk(forMs) {
      // Sessions that begin meanwhile inherit the limit, but not those of a server that was started again.
      const fullUntil = performance.now() + forMs;
      while (performance.now() < fullUntil) {
        await limitServer('full');
        await sleep(FULL_AGAIN_MS);
      }
      await untilItAnswers(() => limitServer('free'));
      await limitServer('free');
    },
    async killBackend() {
      const [pid] = await query(async (client) => {
        const { rows } = await client.query<{ pid: number }>(
          `SELECT pid FROM pg_stat_activity WHERE ${PROJECTORS} ORDER BY backend_xid IS NULL LIMIT 1`,
        );
        return rows.map((row) => row.pid);
      });
      if (pid === undefined) return false;
      process.kill(pid, 'SIGKILL');
      await untilItAnswers();
      return true;
    },
    terminate: (which) =>
      query(async (client) => {
        const condition = which === 'all' ? PROJECTORS : `${PROJECTORS} AND backend_xid IS NOT NULL`;
        const { rowCount } = await client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${condition}`,
        );
        return rowCount ?? 0;
      }),
    async close() {
      await part.process.stop();
      await dataDir.release();
    },
  };
}
