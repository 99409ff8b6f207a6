import { Module } from '@nestjs/common';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { PagingModule } from '../paging/paging.module.js';
import { type ApiSettings, SETTINGS } from '../runtime/runtime.module.js';
import { CHECK_URL, createUrlCheck } from './subscriber-urls.js';
import { SubscriptionDrafts } from './subscription-drafts.js';
import { SubscriptionsController } from './subscriptions.controller.js';
import { SubscriptionsService } from './subscriptions.service.js';

@Module({
  imports: [IdempotencyModule, PagingModule],
  controllers: [SubscriptionsController],
  providers: [
    SubscriptionsService,
    SubscriptionDrafts,
    { provide: CHECK_URL, inject: [SETTINGS], useFactory: ({ egress }: ApiSettings) => createUrlCheck(egress) },
  ],
})
export class SubscriptionsModule {}
