import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { createDataSource, type DatabaseRetry } from '@waypost/database';
import type { HistoryProjectorConfig } from '../config.js';

/** Connections for the one retention run and for the days that the projections of three logs make. */
const POOL_SIZE = 4;

/**
 * The owner of the tables, which alone can make, detach and drop the table of a day: the login in DATABASE_SCHEMA_URL, or else
 * the one of the data.
 */
@Injectable()
export class TableOwner implements OnModuleInit, OnApplicationShutdown {
  readonly dataSource: DataSource;

  constructor(
    { databaseSchema: { schemaUrl } }: Pick<HistoryProjectorConfig, 'databaseSchema'>,
    private readonly data: DataSource,
    private readonly retry: Pick<DatabaseRetry, 'run'>,
    private readonly stopping: AbortSignal,
    statementTimeoutMs: number,
  ) {
    const settings = { poolSize: POOL_SIZE, statementTimeoutMs, seesAllFleets: true };
    this.dataSource =
      schemaUrl === undefined
        ? data
        : createDataSource(schemaUrl, { ...settings, applicationName: 'waypost history-projector days' });
  }

  async onModuleInit(): Promise<void> {
    if (this.dataSource !== this.data) await this.retry.run(() => this.dataSource.initialize(), this.stopping);
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.dataSource !== this.data && this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}
