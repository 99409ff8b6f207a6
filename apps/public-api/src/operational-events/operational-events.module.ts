import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { OperationalEventsController } from './operational-events.controller.js';
import { OperationalEventsService } from './operational-events.service.js';

@Module({
  imports: [ApiDatabaseModule, PagingModule],
  controllers: [OperationalEventsController],
  providers: [OperationalEventsService],
})
export class OperationalEventsModule {}
