import { setTimeout as sleep } from 'node:timers/promises';
import pg, { type ClientBase, type PoolClient, type QueryResultRow } from 'pg';
import { connectionOptions, connectTimeoutOf, poolSizeOf } from './connection-settings.js';
import type { DataSourceSettings } from './data-source.js';
import { databaseAddress } from './database-address.js';
import type { PoolUsage } from './pool-usage.js';

/** A statement with its name; those of one name have the same text, so that a connection prepares it once. */
export interface PreparedQuery {
  readonly name: string;
  readonly text: string;
  readonly parameters: unknown[];
}

/** Connections that only read, and plan as pages need it. They connect when they are needed. */
export interface PageSource {
  /** One round trip. */
  read<Row extends QueryResultRow>(query: PreparedQuery): Promise<readonly Row[]>;
  withConnection<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  usage(): PoolUsage;
  /** Waits for what is being read, but not for long. */
  close(): Promise<void>;
}

/**
 * What a page's statement is planned with. It is planned once for a connection and all parameters, for the planning takes
 * ten times as long as the reading; and since a plan may be made while the tables are small and used when they no longer
 * are, it must not be one that reads all before it answers. The text of the statement leaves one index to choose.
 */
const PAGE_SESSION = [
  'SET default_transaction_read_only = on',
  'SET plan_cache_mode = force_generic_plan',
  'SET enable_seqscan = off',
  'SET enable_bitmapscan = off',
  'SET enable_sort = off',
  'SET max_parallel_workers_per_gather = 0',
  'SET jit = off',
].join('; ');

/** Plans, and what the server has read of the tables, are worth keeping; what nobody asks of for so long is not. */
const IDLE_MS = 300_000;
const CLOSE_PATIENCE_MS = 2_000;

/**
 * A pool of its own: settings that suit pages would mislead other statements, and setting them for each page costs two round
 * trips, which take longer than reading it where processors are busy.
 *
 * @param databaseUrl as of `createDataSource`
 * @throws Error for TLS that would verify nothing
 */
export function createPageSource(
  databaseUrl: string,
  settings: Omit<DataSourceSettings, 'idleInTransactionTimeoutMs'> = {},
): PageSource {
  const { url, ssl } = databaseAddress(databaseUrl);
  const pool = new pg.Pool({
    ...connectionOptions(settings),
    connectionString: url,
    ssl,
    max: poolSizeOf(settings),
    idleTimeoutMillis: IDLE_MS,
    connectionTimeoutMillis: connectTimeoutOf(settings),
    application_name: settings.applicationName ?? 'waypost pages',
    onConnect: (client: ClientBase): unknown => client.query(PAGE_SESSION),
  });
  let closed: Promise<void> | undefined;
  pool.on('error', (error) => settings.onIdleConnectionLost?.(error));
  return {
    async read<Row extends QueryResultRow>({ name, text, parameters }: PreparedQuery) {
      const { rows } = await pool.query<Row>({ name, text, values: parameters });
      return rows;
    },
    async withConnection(work) {
      const client = await pool.connect();
      try {
        return await work(client);
      } finally {
        client.release();
      }
    },
    usage: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => (closed ??= Promise.race([pool.end(), sleep(CLOSE_PATIENCE_MS, undefined, { ref: false })])),
  };
}
