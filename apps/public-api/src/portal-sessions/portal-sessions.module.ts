import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { PortalSessionsController } from './portal-sessions.controller.js';
import { PortalSessionsService } from './portal-sessions.service.js';

@Module({
  imports: [ApiDatabaseModule, IdempotencyModule, PagingModule],
  controllers: [PortalSessionsController],
  providers: [PortalSessionsService],
})
export class PortalSessionsModule {}
