import { Module } from '@nestjs/common';
import { ContractsModule } from '@waypost/platform';
import { HttpApiModule } from './http-api.module.js';
import { ProjectionsModule } from './projections/projections.module.js';
import { PrometheusModule } from './prometheus/prometheus.module.js';

/** Kafka and the schema registry are connected to when they are used: HTTP answers while they are unavailable. */
@Module({
  imports: [ContractsModule.forRoot(), PrometheusModule, ProjectionsModule, HttpApiModule],
})
export class PublicApiModule {}
