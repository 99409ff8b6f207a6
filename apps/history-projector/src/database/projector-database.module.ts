import { Module } from '@nestjs/common';
import { DatabaseModule, type DatabaseModuleOptions, DatabaseRetry, runMigrations } from '@waypost/database';
import {
  createDeliveryPartitions,
  createFigurePartitions,
  createPathPartitions,
  createWaitingPartitions,
  endStalledSessions,
} from '@waypost/history-store';
import { CONFIG, LOGGER, type Logger } from '@waypost/platform';
import type { HistoryProjectorConfig } from '../config.js';
import { APPLICATION_NAME, IDLE_IN_TRANSACTION_MS, POOL_SIZE, STATEMENT_TIMEOUT_MS } from './connection-settings.js';
import { DatabaseStart, RUN_MIGRATIONS } from './database-start.js';
import { EVERY, everyInterval } from './every.js';
import { ProjectorRetry } from './projector-retry.js';
import { DAILY_PARTITIONS, RetentionJob } from './retention.job.js';
import { END_STALLED, type EndStalled, StalledSessionsJob } from './stalled-sessions.job.js';
import { TableOwner } from './table-owner.js';

type DatabaseConfig = Pick<HistoryProjectorConfig, 'database'>;

@Module({
  providers: [
    { provide: DatabaseRetry, useClass: ProjectorRetry },
    { provide: RUN_MIGRATIONS, useValue: runMigrations },
    DatabaseStart,
  ],
  exports: [DatabaseRetry, DatabaseStart],
})
class DatabaseStartModule {}

/**
 * The connections, the migrations and the jobs that maintain the tables. The start waits for a database that is down;
 * readiness requires one that responds.
 */
@Module({
  imports: [
    DatabaseStartModule,
    DatabaseModule.forRootAsync({
      imports: [DatabaseStartModule],
      inject: [CONFIG, LOGGER, DatabaseStart],
      useFactory: databaseOptions,
    }),
  ],
  providers: [
    TableOwner,
    RetentionJob,
    StalledSessionsJob,
    { provide: DAILY_PARTITIONS, inject: [TableOwner], useFactory: dailyPartitions },
    { provide: END_STALLED, inject: [CONFIG], useFactory: endStalledOf },
    { provide: EVERY, useValue: everyInterval },
  ],
  exports: [DatabaseStartModule, TableOwner],
})
export class ProjectorDatabaseModule {}

function databaseOptions(
  { database: { url } }: DatabaseConfig,
  logger: Logger,
  start: DatabaseStart,
): DatabaseModuleOptions {
  return {
    url,
    poolSize: POOL_SIZE,
    seesAllFleets: true,
    applicationName: APPLICATION_NAME,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    idleInTransactionTimeoutMs: IDLE_IN_TRANSACTION_MS,
    onIdleConnectionLost: (error) => logger.debug('database_connection_lost', { error }),
    connect: (dataSource) => start.connect(dataSource),
  };
}

function dailyPartitions({ dataSource }: TableOwner) {
  return [
    createDeliveryPartitions(dataSource),
    createFigurePartitions(dataSource),
    createPathPartitions(dataSource),
    createWaitingPartitions(dataSource),
  ];
}

function endStalledOf({ database: { url } }: DatabaseConfig): EndStalled {
  return (stalledForMs) => endStalledSessions({ databaseUrl: url, applicationName: APPLICATION_NAME, stalledForMs });
}
