import { Module } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import {
  DatabaseModule,
  type DatabaseModuleOptions,
  databaseRefusal,
  DatabaseRetry,
  runMigrations,
} from '@waypost/database';
import {
  createDeliveryPartitions,
  createFigurePartitions,
  createPathPartitions,
  createWaitingPartitions,
  endStalledSessions,
} from '@waypost/history-store';
import { BootError, CLOCK, CONFIG, LOGGER, type Logger, MONOTONIC_CLOCK, Readiness, STOPPING } from '@waypost/platform';
import { waitOrAbort } from '@waypost/streams/admin';
import type { HistoryProjectorConfig } from '../config.js';
import { RetentionJob } from './retention.job.js';
import { StalledSessionsJob } from './stalled-sessions.job.js';
import { TableOwner } from './table-owner.js';

type DatabaseConfig = Pick<HistoryProjectorConfig, 'database' | 'databaseSchema'>;

/** One transaction per log, those waiting for their commits, and the lookups of four partitions of the three logs. */
const POOL_SIZE = 14;

/** The name in pg_stat_activity. */
const APPLICATION_NAME = 'waypost history-projector';

/** No batch and no day of a table takes this long; a slower statement is repeated, and logged. */
const STATEMENT_TIMEOUT_MS = 60_000;

/** A process stopped in a transaction must not block the next owner of its partition for longer. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/** `(url: string) => Promise<unknown>`: brings the tables up to date. */
export const RUN_MIGRATIONS = Symbol('RUN_MIGRATIONS');

@Module({
  providers: [
    { provide: DatabaseRetry, inject: [LOGGER, Registry, MONOTONIC_CLOCK, Readiness], useFactory: createRetry },
    { provide: RUN_MIGRATIONS, useValue: runMigrations },
  ],
  exports: [DatabaseRetry, RUN_MIGRATIONS],
})
class DatabaseRetryModule {}

/**
 * The connections, the migrations and the jobs that maintain the tables. The start waits for a database that is down;
 * readiness requires one that responds.
 */
@Module({
  imports: [
    DatabaseRetryModule,
    DatabaseModule.forRootAsync({
      imports: [DatabaseRetryModule],
      inject: [CONFIG, LOGGER, DatabaseRetry, RUN_MIGRATIONS, STOPPING],
      useFactory: databaseOptions,
    }),
  ],
  providers: [
    {
      provide: TableOwner,
      inject: [CONFIG, DataSource, DatabaseRetry, STOPPING],
      useFactory: (
        { databaseSchema: { schemaUrl } }: DatabaseConfig,
        data: DataSource,
        database: DatabaseRetry,
        stopping: AbortSignal,
      ) => new TableOwner({ schemaUrl, data, database, statementTimeoutMs: STATEMENT_TIMEOUT_MS, stopping }),
    },
    {
      provide: RetentionJob,
      inject: [TableOwner, DatabaseRetry, LOGGER, CLOCK],
      useFactory: ({ dataSource }: TableOwner, database: DatabaseRetry, logger: Logger, nowMs: () => number) =>
        new RetentionJob({
          partitions: [
            createDeliveryPartitions(dataSource),
            createFigurePartitions(dataSource),
            createPathPartitions(dataSource),
            createWaitingPartitions(dataSource),
          ],
          database,
          logger,
          nowMs,
          every,
        }),
    },
    {
      provide: StalledSessionsJob,
      inject: [CONFIG, LOGGER],
      useFactory: ({ database: { url } }: DatabaseConfig, logger: Logger) =>
        new StalledSessionsJob({
          endStalled: (stalledForMs) =>
            endStalledSessions({ databaseUrl: url, applicationName: APPLICATION_NAME, stalledForMs }),
          logger,
          every,
        }),
    },
  ],
  exports: [DatabaseRetryModule, TableOwner],
})
export class ProjectorDatabaseModule {}

function createRetry(
  logger: Logger,
  registry: Registry,
  monotonicMs: () => number,
  readiness: Readiness,
): DatabaseRetry {
  const gauge = new Gauge({
    name: 'waypost_projection_database_available',
    help: '1 while the database responds, 0 while the projection waits for it.',
    registers: [registry],
  });
  gauge.set(1);
  const retry = new DatabaseRetry({
    logger,
    monotonicMs,
    wait: waitOrAbort,
    onChange: (available) => gauge.set(available ? 1 : 0),
  });
  readiness.add('database', () => retry.available());
  return retry;
}

function databaseOptions(
  { database: { url }, databaseSchema: { schemaUrl = url } }: DatabaseConfig,
  logger: Logger,
  retry: DatabaseRetry,
  migrate: (url: string) => Promise<unknown>,
  stopping: AbortSignal,
): DatabaseModuleOptions {
  return {
    url,
    poolSize: POOL_SIZE,
    seesAllFleets: true,
    applicationName: APPLICATION_NAME,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    idleInTransactionTimeoutMs: IDLE_IN_TRANSACTION_MS,
    onIdleConnectionLost: (error) => logger.debug('database_connection_lost', { error }),
    connect: async (dataSource) => {
      try {
        await retry.run(() => migrate(schemaUrl), stopping);
        await retry.run(() => dataSource.initialize(), stopping);
      } catch (error) {
        const refusal = databaseRefusal(error);
        throw refusal === null ? error : new BootError('database_refused', refusal, { cause: error });
      }
    },
  };
}

function every(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms);
  return () => clearInterval(timer);
}
