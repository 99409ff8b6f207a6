import { type DynamicModule, Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { type createDataSource, type PageSource, poolUsageOf } from '@waypost/database';
import type { ManagementStore } from '@waypost/management-store';
import type { Registry } from 'prom-client';
import { DATA_SOURCE, MANAGEMENT_STORE, PAGE_SOURCE } from '../database/database.module.js';
import { type Clock, CLOCK } from '../runtime/runtime.module.js';
import { registerDatabaseMetrics } from './database-metrics.js';

const REGISTRY = Symbol('metrics registry');

@Injectable()
class DatabaseMetrics implements OnModuleInit {
  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    @Inject(DATA_SOURCE) private readonly dataSource: ReturnType<typeof createDataSource>,
    @Inject(PAGE_SOURCE) private readonly pages: PageSource,
    @Inject(MANAGEMENT_STORE) private readonly store: Pick<ManagementStore, 'outbox'>,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  onModuleInit(): void {
    const { registry, dataSource, pages, store, now } = this;
    const pools = { management: () => poolUsageOf(dataSource), pages: () => pages.usage() };
    registerDatabaseMetrics({ registry, pools, readOutboxLag: () => store.outbox.readLag(), now });
  }
}

@Module({})
export class MetricsModule {
  static forRoot({ registry }: { readonly registry: Registry }): DynamicModule {
    return { module: MetricsModule, providers: [DatabaseMetrics, { provide: REGISTRY, useValue: registry }] };
  }
}
