import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  createDeliveryProjection,
  createProjectionProgress,
  DeliveryProjection,
  ProjectionProgress,
} from '@waypost/history-store';
import { CLOCK, CONFIG, QuarantineModule, StreamsModule, TracesModule } from '@waypost/platform';
import type { HistoryProjectorConfig } from '../config.js';
import { TableOwner } from '../database/table-owner.js';
import { ProjectionModule } from '../projection/projection.module.js';
import { AttemptsController } from './attempts.controller.js';
import { AttemptsTaskFactory } from './attempts.task-factory.js';

@Module({
  imports: [StreamsModule, TracesModule, QuarantineModule, ProjectionModule],
  controllers: [AttemptsController],
  providers: [
    AttemptsTaskFactory,
    { provide: ProjectionProgress, inject: [DataSource], useFactory: createProjectionProgress },
    {
      provide: DeliveryProjection,
      inject: [DataSource, TableOwner, CONFIG, CLOCK],
      useFactory: (
        dataSource: DataSource,
        { dataSource: tableOwner }: TableOwner,
        { projection }: Pick<HistoryProjectorConfig, 'projection'>,
        nowMs: () => number,
      ) => createDeliveryProjection({ dataSource, tableOwner, now: nowMs, ...projection }),
    },
  ],
})
export class AttemptsModule {}
