import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { FleetsController } from './fleets.controller.js';
import { FleetsService } from './fleets.service.js';

@Module({
  imports: [ApiDatabaseModule, IdempotencyModule, PagingModule],
  controllers: [FleetsController],
  providers: [FleetsService],
})
export class FleetsModule {}
