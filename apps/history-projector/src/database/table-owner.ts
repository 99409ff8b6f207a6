import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { createDataSource, DatabaseRetry } from '@waypost/database';
import { CONFIG, STOPPING } from '@waypost/platform';
import type { HistoryProjectorConfig } from '../config.js';
import { STATEMENT_TIMEOUT_MS } from './connection-settings.js';

/** Connections for the one retention run and for the days that the projections of three logs create. */
const POOL_SIZE = 4;

/**
 * The owner of the tables, which alone can create, detach and drop the table of a day: the login in
 * DATABASE_SCHEMA_URL, or else the one of the data.
 */
@Injectable()
export class TableOwner implements OnModuleInit, OnApplicationShutdown {
  readonly dataSource: DataSource;

  constructor(
    @Inject(CONFIG) { databaseSchema: { schemaUrl } }: Pick<HistoryProjectorConfig, 'databaseSchema'>,
    private readonly data: DataSource,
    private readonly database: DatabaseRetry,
    @Inject(STOPPING) private readonly stopping: AbortSignal,
  ) {
    const settings = { poolSize: POOL_SIZE, statementTimeoutMs: STATEMENT_TIMEOUT_MS, seesAllFleets: true };
    this.dataSource =
      schemaUrl === undefined
        ? data
        : createDataSource(schemaUrl, { ...settings, applicationName: 'waypost history-projector days' });
  }

  async onModuleInit(): Promise<void> {
    if (this.dataSource !== this.data) await this.database.run(() => this.dataSource.initialize(), this.stopping);
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.dataSource !== this.data && this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}
