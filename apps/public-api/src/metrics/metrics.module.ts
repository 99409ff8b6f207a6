import { type DynamicModule, Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import type { Registry } from 'prom-client';
import { DataSource, PAGE_SOURCE, type PageSource, poolUsageOf } from '@waypost/database';
import { OutboxStore } from '@waypost/management-store';
import { CLOCK, type Clock } from '../runtime/runtime.module.js';
import { registerDatabaseMetrics } from './database-metrics.js';

const REGISTRY = Symbol('metrics registry');

@Injectable()
class DatabaseMetrics implements OnModuleInit {
  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(PAGE_SOURCE) private readonly pages: PageSource,
    @Inject(OutboxStore) private readonly outbox: OutboxStore,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  onModuleInit(): void {
    const { registry, dataSource, pages, outbox, now } = this;
    const pools = { management: () => poolUsageOf(dataSource), pages: () => pages.usage() };
    registerDatabaseMetrics({ registry, pools, readOutboxLag: () => outbox.readLag(), now });
  }
}

@Module({})
export class MetricsModule {
  static forRoot({ registry }: { readonly registry: Registry }): DynamicModule {
    return { module: MetricsModule, providers: [DatabaseMetrics, { provide: REGISTRY, useValue: registry }] };
  }
}
