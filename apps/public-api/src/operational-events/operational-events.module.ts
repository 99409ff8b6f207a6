import { Module } from '@nestjs/common';
import { PagingModule } from '../paging/paging.module.js';
import { OperationalEventsController } from './operational-events.controller.js';
import { OperationalEventsService } from './operational-events.service.js';

@Module({ imports: [PagingModule], controllers: [OperationalEventsController], providers: [OperationalEventsService] })
export class OperationalEventsModule {}
