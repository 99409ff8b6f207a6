import { Inject, Injectable } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { databaseRefusal, DatabaseRetry } from '@waypost/database';
import { BootError, CONFIG, STOPPING } from '@waypost/platform';
import type { HistoryProjectorConfig } from '../config.js';

/** `(url: string) => Promise<unknown>`: brings the tables up to date. */
export const RUN_MIGRATIONS = Symbol('RUN_MIGRATIONS');

/** Migrates and connects. It waits for a database that is down, and ends the start if one refuses. */
@Injectable()
export class DatabaseStart {
  private readonly schemaUrl: string;

  constructor(
    @Inject(CONFIG) { database, databaseSchema }: Pick<HistoryProjectorConfig, 'database' | 'databaseSchema'>,
    private readonly retry: DatabaseRetry,
    @Inject(RUN_MIGRATIONS) private readonly migrate: (url: string) => Promise<unknown>,
    @Inject(STOPPING) private readonly stopping: AbortSignal,
  ) {
    this.schemaUrl = databaseSchema.schemaUrl ?? database.url;
  }

  /** @throws BootError */
  async connect(dataSource: DataSource): Promise<void> {
    try {
      await this.retry.run(() => this.migrate(this.schemaUrl), this.stopping);
      await this.retry.run(() => dataSource.initialize(), this.stopping);
    } catch (error) {
      const refusal = databaseRefusal(error);
      throw refusal === null ? error : new BootError('database_refused', refusal, { cause: error });
    }
  }
}
