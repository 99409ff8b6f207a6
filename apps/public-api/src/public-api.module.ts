import { Module } from '@nestjs/common';
import { ContractsModule } from '@waypost/platform';
import { HttpApiModule } from './http-api.module.js';
import { MetricsModule } from './prometheus/metrics.module.js';
import { ProjectionsModule } from './topic-consumers/projections.module.js';

/** Kafka and the schema registry are connected to when they are used: HTTP answers while they are unavailable. */
@Module({
  imports: [ContractsModule.forRoot(), MetricsModule, ProjectionsModule, HttpApiModule],
})
export class PublicApiModule {}
