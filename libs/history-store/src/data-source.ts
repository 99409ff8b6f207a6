import { DataSource } from 'typeorm';
import { databaseAddress } from './database-address.js';
import { entities } from './entities.js';
import { migrations } from './migrations/index.js';
import { SteadyClient } from './steady-client.js';

export interface DataSourceSettings {
  /** Connections kept at most; the default of 4 suits a process that does one thing at a time. */
  readonly poolSize?: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
  /** A query that runs longer is cancelled by the server. None by default. */
  readonly statementTimeoutMs?: number;
  /**
   * A transaction that waits for its client longer than this is rolled back by the server, so that a stopped process
   * cannot hold its locks. None by default.
   */
  readonly idleInTransactionTimeoutMs?: number;
  /** How long one attempt to connect may last. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /** Told when an idle connection breaks; the pool replaces it by itself. */
  readonly onIdleConnectionLost?: (error: Error) => void;
}

const DEFAULT_POOL_SIZE = 4;
const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;

/**
 * Describes the database; nothing connects before `initialize()`.
 *
 * `databaseUrl` is a libpq URL, TLS included: `postgres://user:password@host/db?sslmode=verify-full&sslrootcert=/ca.pem`.
 * @throws Error for TLS that would verify nothing
 */
export function createDataSource(databaseUrl: string, settings: DataSourceSettings = {}): DataSource {
  const { url, ssl } = databaseAddress(databaseUrl);
  return new DataSource({
    type: 'postgres',
    url,
    ssl,
    synchronize: false,
    migrationsRun: false,
    installExtensions: false,
    logging: false,
    entities,
    migrations,
    poolSize: settings.poolSize ?? DEFAULT_POOL_SIZE,
    connectTimeoutMS: settings.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    applicationName: settings.applicationName ?? 'waypost',
    poolErrorHandler: (error: Error) => settings.onIdleConnectionLost?.(error),
    extra: {
      Client: SteadyClient,
      keepAlive: true,
      statement_timeout: settings.statementTimeoutMs,
      idle_in_transaction_session_timeout: settings.idleInTransactionTimeoutMs,
    },
  });
}
