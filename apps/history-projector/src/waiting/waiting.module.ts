import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { createWaitingProjection } from '@waypost/history-store';
import { CLOCK } from '@waypost/platform';
import { TableOwner } from '../database/table-owner.js';
import { createWaitingMetrics } from '../projection/metrics.js';
import { ProjectionModule } from '../projection/projection.module.js';
import { WaitingController } from './waiting.controller.js';
import { WAITING_METRICS, WAITING_PROJECTION, WaitingTasks } from './waiting.task-factory.js';

@Module({
  imports: [ProjectionModule],
  controllers: [WaitingController],
  providers: [
    WaitingTasks,
    { provide: WAITING_METRICS, inject: [Registry], useFactory: createWaitingMetrics },
    {
      provide: WAITING_PROJECTION,
      inject: [DataSource, TableOwner, CLOCK],
      useFactory: (dataSource: DataSource, owner: TableOwner, now: () => number) =>
        createWaitingProjection({ dataSource, tableOwner: owner.dataSource, now }),
    },
  ],
})
export class WaitingModule {}
