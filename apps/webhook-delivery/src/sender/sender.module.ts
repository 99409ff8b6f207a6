import { Module } from '@nestjs/common';
import { CLOCK, LOGGER, type Logger, MONOTONIC_CLOCK, StreamsModule, TracesModule } from '@waypost/platform';
import { createFlushScheduler, type FlushScheduler } from '../commits/flush-scheduler.js';
import { ProcessModule } from '../process/process.module.js';
import type { TimerPort } from '../process/timers.js';
import { TIMERS } from '../process/timers.module.js';
import { AttemptModule } from '../single-attempt/attempt.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { RetentionClock } from './attempts/retention-clock.js';
import { DeliveryMemory } from './backlogs/delivery-memory.js';
import { DeliveryScheduler } from './scheduling/delivery-scheduler.js';
import { SenderController } from './sender.controller.js';
import { SENDER_FLUSH_SCHEDULER, SenderTaskFactory } from './sender.task-factory.js';
import { SenderScheduler } from './sender-scheduler.js';
import { DEFAULT_SENDER_SETTINGS, SENDER_SETTINGS, type SenderSettings } from './sender-settings.js';

function createFlushes(
  { flushes: intervals }: SenderSettings,
  timers: TimerPort,
  monotonicMs: () => number,
): FlushScheduler {
  return createFlushScheduler({ timers, monotonicMs, intervals });
}

/** Sends the deliveries. */
@Module({
  imports: [StreamsModule, TracesModule, ProcessModule, SubscriptionsModule, AttemptModule],
  controllers: [SenderController],
  providers: [
    SenderTaskFactory,
    { provide: SENDER_SETTINGS, useValue: DEFAULT_SENDER_SETTINGS },
    { provide: DeliveryScheduler, useClass: SenderScheduler },
    {
      provide: DeliveryMemory,
      inject: [SENDER_SETTINGS],
      useFactory: ({ unfinishedBytes }: SenderSettings) => new DeliveryMemory(unfinishedBytes, null),
    },
    {
      provide: RetentionClock,
      inject: [CLOCK, MONOTONIC_CLOCK, LOGGER],
      useFactory: (nowMs: () => number, monotonicMs: () => number, logger: Logger) =>
        new RetentionClock({ nowMs, monotonicMs, logger }),
    },
    { provide: SENDER_FLUSH_SCHEDULER, inject: [SENDER_SETTINGS, TIMERS, MONOTONIC_CLOCK], useFactory: createFlushes },
  ],
})
export class SenderModule {}
