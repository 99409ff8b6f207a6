import { Module } from '@nestjs/common';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { DeliveryMetricsController } from './delivery-metrics.controller.js';
import { DeliveryMetricsService } from './delivery-metrics.service.js';

@Module({ imports: [ApiDatabaseModule], controllers: [DeliveryMetricsController], providers: [DeliveryMetricsService] })
export class DeliveryMetricsModule {}
