import { Module } from '@nestjs/common';
import { QuarantineModule, StreamsModule } from '@waypost/platform';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { OperationalEventsLogController } from './operational-events-log.controller.js';
import { OperationalEventsTaskFactory } from './operational-events-log.task-factory.js';
import { ReplayProgressController } from './replay-progress.controller.js';
import { ReplayProgressTaskFactory } from './replay-progress.task-factory.js';

/** Copies logs into the database for the API to show. Apart from the resources: these need Kafka, requests do not. */
@Module({
  imports: [ApiDatabaseModule, QuarantineModule, StreamsModule],
  controllers: [OperationalEventsLogController, ReplayProgressController],
  providers: [OperationalEventsTaskFactory, ReplayProgressTaskFactory],
})
export class LogCopiesModule {}
