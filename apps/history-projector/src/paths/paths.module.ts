import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { createPathProjection, PathProjection } from '@waypost/history-store';
import { CLOCK } from '@waypost/platform';
import { TableOwner } from '../database/table-owner.js';
import { ProjectionModule } from '../projection/projection.module.js';
import { PathsController } from './paths.controller.js';
import { PathsTaskFactory } from './paths.task-factory.js';

@Module({
  imports: [ProjectionModule],
  controllers: [PathsController],
  providers: [
    PathsTaskFactory,
    {
      provide: PathProjection,
      inject: [DataSource, TableOwner, CLOCK],
      useFactory: (dataSource: DataSource, owner: TableOwner, nowMs: () => number) =>
        createPathProjection({ dataSource, tableOwner: owner.dataSource, now: nowMs }),
    },
  ],
})
export class PathsModule {}
