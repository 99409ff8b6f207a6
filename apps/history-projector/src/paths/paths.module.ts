import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { createPathProjection } from '@waypost/history-store';
import { CLOCK } from '@waypost/platform';
import { TableOwner } from '../database/table-owner.js';
import { createPathMetrics } from '../projection/metrics.js';
import { ProjectionModule } from '../projection/projection.module.js';
import { PathsController } from './paths.controller.js';
import { PATH_METRICS, PATH_PROJECTION, PathTasks } from './paths.task-factory.js';

@Module({
  imports: [ProjectionModule],
  controllers: [PathsController],
  providers: [
    PathTasks,
    { provide: PATH_METRICS, inject: [Registry], useFactory: createPathMetrics },
    {
      provide: PATH_PROJECTION,
      inject: [DataSource, TableOwner, CLOCK],
      useFactory: (dataSource: DataSource, owner: TableOwner, now: () => number) =>
        createPathProjection({ dataSource, tableOwner: owner.dataSource, now }),
    },
  ],
})
export class PathsModule {}
