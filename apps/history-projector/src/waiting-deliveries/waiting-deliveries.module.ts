import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { createWaitingProjection, WaitingProjection } from '@waypost/history-store';
import { CLOCK, StreamsModule } from '@waypost/platform';
import { TableOwner } from '../database/table-owner.js';
import { ProjectionModule } from '../projection/projection.module.js';
import { WaitingDeliveriesController } from './waiting-deliveries.controller.js';
import { WaitingDeliveriesTaskFactory } from './waiting-deliveries.task-factory.js';

@Module({
  imports: [StreamsModule, ProjectionModule],
  controllers: [WaitingDeliveriesController],
  providers: [
    WaitingDeliveriesTaskFactory,
    {
      provide: WaitingProjection,
      inject: [DataSource, TableOwner, CLOCK],
      useFactory: (dataSource: DataSource, owner: TableOwner, nowMs: () => number) =>
        createWaitingProjection({ dataSource, tableOwner: owner.dataSource, now: nowMs }),
    },
  ],
})
export class WaitingDeliveriesModule {}
