import { Module } from '@nestjs/common';
import { MONOTONIC_CLOCK, StreamsModule, TracesModule } from '@waypost/platform';
import { createFlushScheduler, type FlushIntervals, type FlushScheduler } from '../commits/flush-scheduler.js';
import { ProcessModule } from '../process/process.module.js';
import type { TimerPort } from '../process/timers.js';
import { TIMERS } from '../process/timers.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { DutyCycle } from './duty-cycle.js';
import { FanOutController } from './fan-out.controller.js';
import { FAN_OUT_FLUSH_SCHEDULER, FanOutTaskFactory } from './fan-out.task-factory.js';

/** Longer than the sender's: each task writes to every partition of the deliveries, so tasks share few requests. */
const FLUSH_INTERVALS: FlushIntervals = { intervalMs: 8, busyIntervalMs: 12 };

function createFlushes(timers: TimerPort, monotonicMs: () => number): FlushScheduler {
  return createFlushScheduler({ timers, monotonicMs, intervals: FLUSH_INTERVALS });
}

/** Turns events into deliveries. */
@Module({
  imports: [StreamsModule, TracesModule, ProcessModule, SubscriptionsModule],
  controllers: [FanOutController],
  providers: [
    FanOutTaskFactory,
    DutyCycle,
    { provide: FAN_OUT_FLUSH_SCHEDULER, inject: [TIMERS, MONOTONIC_CLOCK], useFactory: createFlushes },
  ],
})
export class FanOutModule {}
