import { DataSource, type DataSourceOptions } from 'typeorm';
import { connectionOptions, connectTimeoutOf, poolSizeOf, type ConnectionSettings } from './connection-settings.js';
import { databaseAddress } from './database-address.js';
import { migrations } from './migrations/index.js';

export interface DataSourceSettings extends ConnectionSettings {
  /** The mapped tables that the caller works with. None by default: migrations and plain SQL need none. */
  readonly entities?: NonNullable<DataSourceOptions['entities']>;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
  /**
   * A transaction that waits for its client longer than this is rolled back by the server, so that a stopped process
   * cannot hold its locks. None by default.
   */
  readonly idleInTransactionTimeoutMs?: number;
  /** Told when an idle connection breaks; the pool replaces it by itself. */
  readonly onIdleConnectionLost?: (error: Error) => void;
}

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
    entities: settings.entities ?? [],
    migrations,
    poolSize: poolSizeOf(settings),
    connectTimeoutMS: connectTimeoutOf(settings),
    applicationName: settings.applicationName ?? 'waypost',
    poolErrorHandler: (error: Error) => settings.onIdleConnectionLost?.(error),
    extra: {
      ...connectionOptions(settings),
      idle_in_transaction_session_timeout: settings.idleInTransactionTimeoutMs,
    },
  });
}
