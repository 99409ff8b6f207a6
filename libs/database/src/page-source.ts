/** SQL by hand: prepared statements on connections whose planner settings suit pages, which TypeORM cannot express. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg, { type ClientBase, type PoolClient, type QueryResultRow } from 'pg';
import { databaseAddress } from './address/database-address.js';
import {
  connectionOptions,
  type ConnectionSettings,
  connectTimeoutOf,
  poolSizeOf,
  type PoolUsage,
} from './data-source.js';
import { setFleetOfConnection } from './fleet-scope.js';
import { type FleetTurnLimits, FleetTurns } from './fleet-turns.js';

/** A named statement; equal names must have equal texts, so that a connection prepares the statement once. */
export interface PreparedQuery {
  readonly name: string;
  readonly text: string;
  readonly parameters: unknown[];
}

export interface PageSourceSettings extends ConnectionSettings {
  /** How much of one fleet is read at a time. As much as there are connections by default. */
  readonly fleetTurns?: FleetTurnLimits;
}

/** Read-only connections with planner settings for pages. They are opened on first use, and each read sees one fleet. */
export abstract class PageSource {
  /** One round trip, and one more if the connection has served another fleet before. */
  abstract read<Row extends QueryResultRow>(fleetId: string, query: PreparedQuery): Promise<readonly Row[]>;
  abstract withConnection<T>(fleetId: string, work: (client: PoolClient) => Promise<T>): Promise<T>;
  abstract usage(): PoolUsage;
  /** Waits briefly for reads in progress. */
  abstract close(): Promise<void>;
}

/**
 * Planning a page takes ten times as long as reading it, so a statement is planned once per connection and for all
 * parameters. The plan may be made while the tables are small and used when they are large, so it must never be one that
 * reads everything before it returns the first row. The text of the statement leaves only one index to choose.
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

/** Plans and the server's catalog caches are worth keeping between requests. */
const IDLE_TIMEOUT_MS = 300_000;
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * A separate pool: settings that suit pages would mislead other statements, and setting them per page costs two round trips.
 * @param databaseUrl as of `createDataSource`
 * @throws Error for a TLS setting that would verify nothing
 */
export function createPageSource(databaseUrl: string, settings: PageSourceSettings = {}): PageSource {
  const { url, ssl } = databaseAddress(databaseUrl);
  const pool = new pg.Pool({
    ...connectionOptions(settings),
    connectionString: url,
    ssl,
    max: poolSizeOf(settings),
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    connectionTimeoutMillis: connectTimeoutOf(settings),
    application_name: settings.applicationName ?? 'waypost pages',
    onConnect: (client: ClientBase): unknown => client.query(PAGE_SESSION),
  });
  const fleets = new WeakMap<PoolClient, string>();
  const turns = settings.fleetTurns && new FleetTurns(settings.fleetTurns);
  let closed: Promise<void> | undefined;

  function withConnection<T>(fleetId: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const connected = () => onConnection(fleetId, work);
    return turns === undefined ? connected() : turns.run(fleetId, connected);
  }

  async function onConnection<T>(fleetId: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let failure: Error | undefined;
    try {
      if (fleets.get(client) !== fleetId) {
        await setFleetOfConnection(client, fleetId);
        fleets.set(client, fleetId);
      }
      return await work(client);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      // After a failure the pool ends the connection: what it sees is not known.
      client.release(failure);
    }
  }

  pool.on('error', (error) => settings.onIdleConnectionLost?.(error));
  return {
    async read<Row extends QueryResultRow>(fleetId: string, { name, text, parameters }: PreparedQuery) {
      const { rows } = await withConnection(fleetId, (client) => client.query<Row>({ name, text, values: parameters }));
      return rows;
    },
    withConnection,
    usage: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => (closed ??= Promise.race([pool.end(), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })])),
  };
}
