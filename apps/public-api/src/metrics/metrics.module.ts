import { Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { PageSource, poolUsageOf } from '@waypost/database';
import { OutboxStore } from '@waypost/management-store';
import { CLOCK } from '@waypost/platform';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { registerDatabaseMetrics } from './database-metrics.js';

@Injectable()
class DatabaseMetrics implements OnModuleInit {
  constructor(
    private readonly registry: Registry,
    private readonly dataSource: DataSource,
    private readonly pages: PageSource,
    private readonly outbox: OutboxStore,
    @Inject(CLOCK) private readonly nowMs: () => number,
  ) {}

  onModuleInit(): void {
    const { registry, dataSource, pages, outbox, nowMs } = this;
    const pools = { management: () => poolUsageOf(dataSource), pages: () => pages.usage() };
    registerDatabaseMetrics({ registry, pools, readOutboxLag: () => outbox.readLag(), nowMs });
  }
}

@Module({ imports: [ApiDatabaseModule], providers: [DatabaseMetrics] })
export class MetricsModule {}
