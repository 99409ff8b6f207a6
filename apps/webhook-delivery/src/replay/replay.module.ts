import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { StreamsModule } from '@waypost/platform';
import { CommonModule } from '../common/common.module.js';
import { createReplayMetrics, ReplayMetrics } from '../common/delivery-metrics.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { ReplayController } from './replay.controller.js';
import { ReplayTaskFactory } from './replay.task-factory.js';

/** Sends past deliveries again. */
@Module({
  imports: [StreamsModule, CommonModule, SubscriptionsModule],
  controllers: [ReplayController],
  providers: [ReplayTaskFactory, { provide: ReplayMetrics, inject: [Registry], useFactory: createReplayMetrics }],
})
export class ReplayModule {}
