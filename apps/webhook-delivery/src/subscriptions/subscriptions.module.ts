import { Module } from '@nestjs/common';
import { KafkaModule } from '@waypost/platform';
import { ProcessModule } from '../process/process.module.js';
import { SubscriptionDirectory } from './subscription-directory.js';

@Module({
  imports: [ProcessModule, KafkaModule],
  providers: [SubscriptionDirectory],
  exports: [SubscriptionDirectory],
})
export class SubscriptionsModule {}
