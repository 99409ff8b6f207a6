import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { StreamsModule } from '@waypost/platform';
import { CommonModule } from '../common/common.module.js';
import { createReplayMetrics, ReplayMetrics } from '../common/delivery-metrics.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { ReplayController } from './replay.controller.js';
import { ReplayTasks } from './replay-tasks.js';

/** Sends past deliveries again. */
@Module({
  imports: [StreamsModule, CommonModule, SubscriptionsModule],
  controllers: [ReplayController],
  providers: [ReplayTasks, { provide: ReplayMetrics, inject: [Registry], useFactory: createReplayMetrics }],
})
export class ReplayModule {}
