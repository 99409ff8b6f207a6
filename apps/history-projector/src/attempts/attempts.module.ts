import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { createDeliveryProjection, createProjectionProgress } from '@waypost/history-store';
import { CLOCK, CONFIG, QuarantineModule, StreamsModule, TracesModule } from '@waypost/platform';
import { TableOwner } from '../database/table-owner.js';
import { createProjectorMetrics } from '../projection/metrics.js';
import { ProjectionModule } from '../projection/projection.module.js';
import { AttemptsController } from './attempts.controller.js';
import { AttemptTasks, DELIVERY_PROJECTION, PROJECTION_PROGRESS, PROJECTOR_METRICS } from './attempts.task-factory.js';

interface AttemptsConfig {
  readonly projection: { readonly transactionsAtOnce: number };
}

@Module({
  imports: [StreamsModule, TracesModule, QuarantineModule, ProjectionModule],
  controllers: [AttemptsController],
  providers: [
    AttemptTasks,
    { provide: PROJECTOR_METRICS, inject: [Registry, CLOCK], useFactory: createProjectorMetrics },
    { provide: PROJECTION_PROGRESS, inject: [DataSource], useFactory: createProjectionProgress },
    {
      provide: DELIVERY_PROJECTION,
      inject: [DataSource, TableOwner, CONFIG, CLOCK],
      useFactory: (
        dataSource: DataSource,
        { dataSource: tableOwner }: TableOwner,
        { projection }: AttemptsConfig,
        now: () => number,
      ) => createDeliveryProjection({ dataSource, tableOwner, now, ...projection }),
    },
  ],
})
export class AttemptsModule {}
