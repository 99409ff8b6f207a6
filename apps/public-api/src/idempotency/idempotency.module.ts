import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { AnswerSealer } from './answer-sealer.js';
import { IdempotentRequests } from './idempotent-requests.js';

@Module({
  imports: [ApiDatabaseModule, OutboxModule],
  providers: [AnswerSealer, IdempotentRequests],
  exports: [IdempotentRequests],
})
export class IdempotencyModule {}
