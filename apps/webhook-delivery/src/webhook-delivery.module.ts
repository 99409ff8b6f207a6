import { Module } from '@nestjs/common';
import { ContractsModule } from '@waypost/platform';
import { FanOutModule } from './fan-out/fan-out.module.js';
import { ReplayModule } from './replay/replay.module.js';
import { SenderModule } from './sender/sender.module.js';

/** The consumers start in the order of these imports and stop in reverse, so nothing is written that no sender reads. */
@Module({
  imports: [
    ContractsModule.forRoot([
      'webhookDeliveries',
      'webhookAttempts',
      'subscriptionState',
      'webhookOperations',
      'replayProgress',
      'telemetryRejected',
    ]),
    SenderModule,
    FanOutModule,
    ReplayModule,
  ],
})
export class WebhookDeliveryModule {}
