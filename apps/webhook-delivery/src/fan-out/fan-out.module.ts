import { Module } from '@nestjs/common';
import { MONOTONIC_CLOCK, StreamsModule, TracesModule } from '@waypost/platform';
import { CommonModule, TIMERS } from '../common/common.module.js';
import { createFlushScheduler, type FlushIntervals, type FlushScheduler } from '../common/flush-scheduler.js';
import type { TimerPort } from '../common/timers.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { FanOutController } from './fan-out.controller.js';
import { FAN_OUT_FLUSH_SCHEDULER, FanOutTaskFactory } from './fan-out.task-factory.js';

/** Longer than the sender's: each task writes to every partition of the deliveries, so tasks share few requests. */
const FLUSH_INTERVALS: FlushIntervals = { intervalMs: 8, busyIntervalMs: 12 };

function flushesOf(timers: TimerPort, monotonicMs: () => number): FlushScheduler {
  return createFlushScheduler({ timers, monotonicMs, intervals: FLUSH_INTERVALS });
}

/** Turns events into deliveries. */
@Module({
  imports: [StreamsModule, TracesModule, CommonModule, SubscriptionsModule],
  controllers: [FanOutController],
  providers: [
    FanOutTaskFactory,
    { provide: FAN_OUT_FLUSH_SCHEDULER, inject: [TIMERS, MONOTONIC_CLOCK], useFactory: flushesOf },
  ],
})
export class FanOutModule {}
