import { Module } from '@nestjs/common';
import { QuarantineModule, StreamsModule } from '@waypost/platform';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { OperationalEventsProjectionController } from './operational-events-projection.controller.js';
import { OperationalEventsProjectionTaskFactory } from './operational-events-projection.task-factory.js';
import { ReplayProgressProjectionController } from './replay-progress-projection.controller.js';
import { ReplayProgressProjectionTaskFactory } from './replay-progress-projection.task-factory.js';

/** Projects topics into the tables that the API shows. Apart from the resources: these need Kafka, requests do not. */
@Module({
  imports: [ApiDatabaseModule, QuarantineModule, StreamsModule],
  controllers: [OperationalEventsProjectionController, ReplayProgressProjectionController],
  providers: [OperationalEventsProjectionTaskFactory, ReplayProgressProjectionTaskFactory],
})
export class ProjectionsModule {}
