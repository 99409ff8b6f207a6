import { Module } from '@nestjs/common';
import { ContractsModule } from '@waypost/platform';
import { ApiDatabaseModule } from './database/api-database.module.js';
import { HttpApiModule } from './http-api.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OperationalEventsConsumerModule } from './operational-events/operational-events.consumer.js';
import { OutboxModule } from './outbox/outbox.module.js';
import { ReplayProgressConsumerModule } from './replays/replay-progress.consumer.js';

/** Kafka and the schema registry are connected to when they are used: HTTP answers while they are unavailable. */
@Module({
  imports: [
    ContractsModule.forRoot(),
    ApiDatabaseModule,
    OutboxModule,
    MetricsModule,
    OperationalEventsConsumerModule,
    ReplayProgressConsumerModule,
    HttpApiModule,
  ],
})
export class PublicApiModule {}
