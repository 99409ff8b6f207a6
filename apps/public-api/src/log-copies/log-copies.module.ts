import { Module } from '@nestjs/common';
import { QuarantineModule, StreamsModule } from '@waypost/platform';
import { OperationalEventsLogController } from './operational-events-log.controller.js';
import { OperationalEventsTasks } from './operational-events-log.task-factory.js';
import { ReplayProgressController } from './replay-progress.controller.js';
import { ReplayProgressTasks } from './replay-progress.task-factory.js';

/** Copies logs into the database for the API to show. Apart from the resources: these need Kafka, requests do not. */
@Module({
  imports: [StreamsModule, QuarantineModule],
  controllers: [OperationalEventsLogController, ReplayProgressController],
  providers: [OperationalEventsTasks, ReplayProgressTasks],
})
export class LogCopiesModule {}
