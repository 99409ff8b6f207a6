import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { databaseAddress } from './address/database-address.js';
import { ALL_FLEETS, setFleetOfConnection } from './fleet-scope.js';
import { migrations } from './migrations/index.js';

export interface ConnectionSettings {
  /** Upper bound of connections; the default of 4 suits a process that does one task at a time. */
  readonly poolSize?: number;
  /** The server cancels a query that runs longer; a query whose server is silent fails soon after. None by default. */
  readonly statementTimeoutMs?: number;
  /** How long one attempt to connect may last. Default 5,000. */
  readonly connectTimeoutMs?: number;
  readonly applicationName?: string;
  /** The pool replaces it. */
  readonly onIdleConnectionLost?: (error: Error) => void;
}

export interface DataSourceSettings extends ConnectionSettings {
  /** The mapped tables that the caller works with. None by default: migrations and plain SQL need none. */
  readonly entities?: NonNullable<DataSourceOptions['entities']>;
  /** The server rolls back: a stopped process cannot hold its locks. None by default. */
  readonly idleInTransactionTimeoutMs?: number;
  /** The server fails a statement that waits longer than this for a lock. None by default. */
  readonly lockTimeoutMs?: number;
  /** For the projector, migrations and tools. By default a transaction sees the fleet that it names (`inFleet`), or nothing. */
  readonly seesAllFleets?: boolean;
}

export interface PoolUsage {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

const DEFAULT_POOL_SIZE = 4;
const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
/** If there is a server, its own cancellation arrives first. */
const QUERY_TIMEOUT_MARGIN_MS = 2_000;
/** Firewalls silently drop idle connections; the system's default would probe only after two hours. */
const KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * Connects at `initialize()`.
 * @param databaseUrl libpq, TLS included: `postgres://user:password@host/db?sslmode=verify-full&sslrootcert=/ca.pem`
 * @throws Error for a TLS setting that would verify nothing
 */
export function createDataSource(databaseUrl: string, settings: DataSourceSettings = {}): DataSource {
  return new DataSource(dataSourceOptions(databaseUrl, settings));
}

export function dataSourceOptions(databaseUrl: string, settings: DataSourceSettings = {}): DataSourceOptions {
  const { url, ssl } = databaseAddress(databaseUrl);
  return {
    type: 'postgres',
    url,
    ssl,
    synchronize: false,
    migrationsRun: false,
    migrationsTransactionMode: 'each',
    installExtensions: false,
    logging: false,
    entities: settings.entities ?? [],
    migrations,
    poolSize: poolSizeOf(settings),
    connectTimeoutMS: connectTimeoutOf(settings),
    applicationName: settings.applicationName ?? 'waypost',
    poolErrorHandler: (error: Error) => settings.onIdleConnectionLost?.(error),
    extra: {
      ...connectionOptions(settings),
      idle_in_transaction_session_timeout: settings.idleInTransactionTimeoutMs,
      lock_timeout: settings.lockTimeoutMs,
      ...(settings.seesAllFleets === true && {
        onConnect: (client: pg.Client) => setFleetOfConnection(client, ALL_FLEETS),
      }),
    },
  };
}

/** All 0 before the data source is connected. */
export function poolUsageOf(dataSource: DataSource): PoolUsage {
  const { master } = dataSource.driver as { master?: Partial<Record<`${keyof PoolUsage}Count`, number>> };
  return { total: master?.totalCount ?? 0, idle: master?.idleCount ?? 0, waiting: master?.waitingCount ?? 0 };
}

export function poolSizeOf({ poolSize }: ConnectionSettings): number {
  return poolSize ?? DEFAULT_POOL_SIZE;
}

export function connectTimeoutOf({ connectTimeoutMs }: ConnectionSettings): number {
  return connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
}

/** Options of every pool of pg, whether TypeORM's or our own. */
export function connectionOptions({ statementTimeoutMs }: ConnectionSettings) {
  const timeouts =
    statementTimeoutMs === undefined
      ? {}
      : { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + QUERY_TIMEOUT_MARGIN_MS };
  return { Client: ResilientClient, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS, ...timeouts };
}

/** A connection that can break without ending the process or blocking its next user. */
class ResilientClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // Between checkout from the pool and the first query nothing listens for errors, so a server that goes down at that
    // moment would end the process with an unhandled 'error'. The failure is not lost: the next query rejects.
    this.on('error', () => undefined);
    const query = this.query.bind(this) as (...parameters: unknown[]) => unknown;
    this.query = ((...parameters: unknown[]) => {
      const result = query(...parameters);
      if (result instanceof Promise) {
        result.catch((error: unknown) => {
          // The server may still be busy with the query, or gone: the next query would queue behind it.
          if (isQueryTimeout(error)) void this.end();
        });
      }
      return result;
    }) as typeof this.query;
  }
}

function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
