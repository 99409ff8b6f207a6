import { Module } from '@nestjs/common';
import { AnswerSealer } from './answer-sealer.js';
import { IdempotentRequests } from './idempotent-requests.js';

@Module({ providers: [AnswerSealer, IdempotentRequests], exports: [IdempotentRequests] })
export class IdempotencyModule {}
