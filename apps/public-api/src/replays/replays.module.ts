import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { ReplaysController } from './replays.controller.js';
import { ReplaysService } from './replays.service.js';

@Module({
  imports: [ApiDatabaseModule, IdempotencyModule, OutboxModule, PagingModule],
  controllers: [ReplaysController],
  providers: [ReplaysService],
  exports: [ReplaysService],
})
export class ReplaysModule {}
