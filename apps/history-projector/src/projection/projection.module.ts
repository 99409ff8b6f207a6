import { Module } from '@nestjs/common';
import { StreamsModule } from '@waypost/platform';
import { ProjectorDatabaseModule } from '../database/projector-database.module.js';
import { ProjectionTools } from './projection-tools.js';

/** Provides what the projections of attempts, paths and waiting deliveries share. */
@Module({
  imports: [StreamsModule, ProjectorDatabaseModule],
  providers: [ProjectionTools],
  exports: [ProjectionTools, ProjectorDatabaseModule],
})
export class ProjectionModule {}
