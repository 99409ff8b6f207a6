import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { FleetMetricsController } from './fleet-metrics.controller.js';
import { FleetMetricsService } from './fleet-metrics.service.js';

@Module({ imports: [ApiDatabaseModule], controllers: [FleetMetricsController], providers: [FleetMetricsService] })
export class FleetMetricsModule {}
