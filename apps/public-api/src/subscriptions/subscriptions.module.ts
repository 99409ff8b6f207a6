import { Module } from '@nestjs/common';
import { CONFIG } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { CHECK_URL, createUrlCheck } from './subscriber-urls.js';
import { SubscriptionDrafts } from './subscription-drafts.js';
import { SubscriptionHealthReader } from './subscription-health.js';
import { SubscriptionsController } from './subscriptions.controller.js';
import { SubscriptionsService } from './subscriptions.service.js';

@Module({
  imports: [ApiDatabaseModule, IdempotencyModule, OutboxModule, PagingModule],
  controllers: [SubscriptionsController],
  providers: [
    SubscriptionsService,
    SubscriptionDrafts,
    SubscriptionHealthReader,
    {
      provide: CHECK_URL,
      inject: [CONFIG],
      useFactory: ({ egress }: Pick<PublicApiConfig, 'egress'>) => createUrlCheck(egress),
    },
  ],
})
export class SubscriptionsModule {}
