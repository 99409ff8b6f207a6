import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { StreamsModule } from '@waypost/platform';
import { createReplayMetrics, ReplayMetrics } from '../metrics/delivery-metrics.js';
import { ProcessModule } from '../process/process.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { ReplayController } from './replay.controller.js';
import { ReplayTaskFactory } from './replay.task-factory.js';

/** Sends past deliveries again. */
@Module({
  imports: [StreamsModule, ProcessModule, SubscriptionsModule],
  controllers: [ReplayController],
  providers: [ReplayTaskFactory, { provide: ReplayMetrics, inject: [Registry], useFactory: createReplayMetrics }],
})
export class ReplayModule {}
