import { type DynamicModule, Global, Inject, Injectable, Module } from '@nestjs/common';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import {
  createDataSource,
  createPageSource,
  databaseRefusal,
  isConnectionLoss,
  type PageSource,
} from '@waypost/database';
import { createDeliveryHistory, createPathHistory } from '@waypost/history-store';
import { createManagementStore, MANAGEMENT_ENTITIES } from '@waypost/management-store';
import { BootError } from '@waypost/platform';
import { type ApiLogger, LOGGER, RANDOM_BYTES, type RandomBytes } from '../runtime/runtime.module.js';

type DataSource = ReturnType<typeof createDataSource>;

/** Reads and writes of managed rows. */
export const DATA_SOURCE = Symbol('data source');
/** Reads of history pages. */
export const PAGE_SOURCE = Symbol('page source');
export const MANAGEMENT_STORE = Symbol('management store');
export const DELIVERY_HISTORY = Symbol('delivery history');
export const PATH_HISTORY = Symbol('path history');

export interface DatabaseOptions {
  readonly url: string;
  /** How PostgreSQL lists these connections. */
  readonly applicationName: string;
}

const POOL_SIZE = 10;
/** No page needs this long; a runaway query must not hold a connection for ever. */
const STATEMENT_TIMEOUT_MS = 10_000;

/** Connects before the first request and disconnects after the last: HTTP is closed by then. */
@Injectable()
export class DatabaseConnection implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(PAGE_SOURCE) private readonly pages: PageSource,
  ) {}

  async onModuleInit(): Promise<void> {
    try {
      await this.dataSource.initialize();
    } catch (error) {
      const refusal = databaseRefusal(error);
      if (refusal !== null) throw new BootError('database_refused', refusal, { cause: error });
      if (!isConnectionLoss(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const fix = 'check that PostgreSQL runs and that DATABASE_URL points to it';
      const message = `The database cannot be reached (${reason}): ${fix}.`;
      throw new BootError('database_unreachable', message, { cause: error });
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.pages.close(), this.dataSource.isInitialized ? this.dataSource.destroy() : undefined]);
  }
}

function connectionOptions({ applicationName }: DatabaseOptions, logger: ApiLogger) {
  return {
    applicationName,
    poolSize: POOL_SIZE,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onIdleConnectionLost: (error: Error) => {
      logger.warn('database_connection_lost', { error });
    },
  };
}

/** The database and the stores on it. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(options: DatabaseOptions): DynamicModule {
    const sources = [
      {
        provide: DATA_SOURCE,
        inject: [LOGGER],
        useFactory: (logger: ApiLogger) =>
          createDataSource(options.url, {
            ...connectionOptions(options, logger),
            entities: MANAGEMENT_ENTITIES,
            // A process that is stopped in the middle of a change must not block others.
            idleInTransactionTimeoutMs: STATEMENT_TIMEOUT_MS,
          }),
      },
      {
        provide: PAGE_SOURCE,
        inject: [LOGGER],
        useFactory: (logger: ApiLogger) => createPageSource(options.url, connectionOptions(options, logger)),
      },
    ];
    const stores = [
      {
        provide: MANAGEMENT_STORE,
        inject: [DATA_SOURCE, RANDOM_BYTES],
        useFactory: (dataSource: DataSource, randomBytes: RandomBytes) =>
          createManagementStore({ dataSource, randomBytes }),
      },
      {
        provide: DELIVERY_HISTORY,
        inject: [PAGE_SOURCE],
        useFactory: (pages: PageSource) => createDeliveryHistory({ pages }),
      },
      { provide: PATH_HISTORY, inject: [PAGE_SOURCE], useFactory: (pages: PageSource) => createPathHistory({ pages }) },
    ];
    return {
      module: DatabaseModule,
      providers: [...sources, ...stores, DatabaseConnection],
      exports: [...sources, ...stores],
    };
  }
}
