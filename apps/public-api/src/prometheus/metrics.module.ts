import { Inject, Injectable, Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { PageSource, poolUsageOf } from '@waypost/database';
import { OutboxStore } from '@waypost/management-store';
import { CLOCK } from '@waypost/platform';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { registerDatabaseMetrics } from './database-metrics.js';

@Injectable()
class DatabaseMetrics {
  constructor(
    registry: Registry,
    dataSource: DataSource,
    pages: PageSource,
    outbox: OutboxStore,
    @Inject(CLOCK) nowMs: () => number,
  ) {
    const pools = { management: () => poolUsageOf(dataSource), pages: () => pages.usage() };
    registerDatabaseMetrics({ registry, pools, readOutboxLag: () => outbox.readLag(), nowMs });
  }
}

@Module({ imports: [ApiDatabaseModule], providers: [DatabaseMetrics] })
export class MetricsModule {}
