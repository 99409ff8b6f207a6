import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type createDataSource, databaseRefusal, isConnectionLoss, type PageSource } from '@waypost/database';
import { BootError } from '@waypost/platform';

type DataSource = ReturnType<typeof createDataSource>;

export const DATA_SOURCE = Symbol('data source');
export const PAGE_SOURCE = Symbol('page source');

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
      const mend = 'check that PostgreSQL runs and that DATABASE_URL leads to it';
      throw new BootError('database_unreachable', `The database cannot be reached (${reason}): ${mend}.`, {
        cause: error,
      });
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.pages.close(), this.dataSource.isInitialized ? this.dataSource.destroy() : undefined]);
  }
}
