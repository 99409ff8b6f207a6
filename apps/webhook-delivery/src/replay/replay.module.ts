import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { StreamsModule } from '@waypost/platform';
import { createReplayMetrics, ReplayMetrics } from '../metrics/delivery-metrics.js';
import { ProcessModule } from '../process/process.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { ReplayController } from './replay.controller.js';
import { ReplayTaskFactory } from './replay.task-factory.js';
import { SelectionMemory } from './selection-memory.js';

const MAX_SELECTION_BYTES = 128 * 1024 * 1024;

/** Sends past deliveries again. */
@Module({
  imports: [StreamsModule, ProcessModule, SubscriptionsModule],
  controllers: [ReplayController],
  providers: [
    ReplayTaskFactory,
    { provide: ReplayMetrics, inject: [Registry], useFactory: createReplayMetrics },
    { provide: SelectionMemory, useFactory: () => new SelectionMemory(MAX_SELECTION_BYTES) },
  ],
})
export class ReplayModule {}
