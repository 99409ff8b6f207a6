import { Module } from '@nestjs/common';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { FleetsController } from './fleets.controller.js';
import { FleetsService } from './fleets.service.js';

@Module({ imports: [IdempotencyModule, PagingModule], controllers: [FleetsController], providers: [FleetsService] })
export class FleetsModule {}
