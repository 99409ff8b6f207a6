import { Module } from '@nestjs/common';
import { DeliveryHistoryModule } from '../delivery-history/delivery-history.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { ReplaysModule } from '../replays/replays.module.js';
import { EventResendsService } from './event-resends.service.js';
import { EventsV2Controller } from './events-v2.controller.js';

@Module({
  imports: [DeliveryHistoryModule, IdempotencyModule, ReplaysModule],
  controllers: [EventsV2Controller],
  providers: [EventResendsService],
})
export class EventsV2Module {}
