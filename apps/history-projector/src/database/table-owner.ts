import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { createDataSource, type DatabaseRetry } from '@waypost/database';

/** Connections for the one retention run and for the days that the projections of three logs create. */
const POOL_SIZE = 4;

export interface TableOwnerDeps {
  /** Its own login; undefined: that of the data. */
  readonly schemaUrl: string | undefined;
  /** The connections of the data. */
  readonly data: DataSource;
  readonly database: Pick<DatabaseRetry, 'run'>;
  readonly statementTimeoutMs: number;
  /** Aborted when the process begins to stop. */
  readonly stopping: AbortSignal;
}

/**
 * The owner of the tables, which alone can create, detach and drop the table of a day: the login in
 * DATABASE_SCHEMA_URL, or else the one of the data.
 */
export class TableOwner implements OnModuleInit, OnApplicationShutdown {
  readonly dataSource: DataSource;

  constructor(private readonly deps: TableOwnerDeps) {
    const { schemaUrl, data, statementTimeoutMs } = deps;
    const settings = { poolSize: POOL_SIZE, statementTimeoutMs, seesAllFleets: true };
    this.dataSource =
      schemaUrl === undefined
        ? data
        : createDataSource(schemaUrl, { ...settings, applicationName: 'waypost history-projector days' });
  }

  async onModuleInit(): Promise<void> {
    const { data, database, stopping } = this.deps;
    if (this.dataSource !== data) await database.run(() => this.dataSource.initialize(), stopping);
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.dataSource !== this.deps.data && this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}
