import { Module } from '@nestjs/common';
import { ContractsModule } from '@waypost/platform';
import { AttemptLogModule } from './attempt-stream/attempt-log.module.js';
import { ApiDatabaseModule } from './database/api-database.module.js';
import { HttpApiModule } from './http-api.module.js';
import { LogCopiesModule } from './log-copies/log-copies.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OutboxModule } from './outbox/outbox.module.js';

/** Kafka and the schema registry are connected to when they are used: HTTP answers while they are unavailable. */
@Module({
  imports: [
    ContractsModule.forRoot(),
    ApiDatabaseModule,
    OutboxModule,
    MetricsModule,
    LogCopiesModule,
    AttemptLogModule,
    HttpApiModule,
  ],
})
export class PublicApiModule {}
