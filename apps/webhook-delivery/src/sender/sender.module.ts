import { Module } from '@nestjs/common';
import { CLOCK, StreamsModule } from '@waypost/platform';
import { AttemptModule } from '../attempt/attempt.module.js';
import { CommonModule, TIMERS } from '../common/common.module.js';
import { createFlushScheduler, type FlushScheduler } from '../common/flush-scheduler.js';
import type { TimerPort } from '../common/timers.js';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { SUBSCRIPTION_DIRECTORY, SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { ConcurrencyLimiter, createLaneSettings } from './concurrency-limiter.js';
import {
  DeliveryTasks,
  SENDER_FLUSHES,
  SENDER_SETTINGS,
  SenderController,
  type SenderSettings,
} from './sender.controller.js';

const SETTINGS: SenderSettings = {
  inFlight: { perSubscription: 64, perOrigin: 192, total: 2_048 },
  unfinished: { perSubscription: 500, total: 20_000, guaranteed: 16 },
  flushes: { intervalMs: 4, busyIntervalMs: 10 },
  // Longer than an attempt can take: attempts in flight are not repeated when a partition moves or the process stops.
  closeGraceMs: 5_500,
};

function limiterOf(
  { inFlight: limits }: SenderSettings,
  directory: SubscriptionDirectory,
  timers: TimerPort,
  now: () => number,
): ConcurrencyLimiter {
  return new ConcurrencyLimiter({ limits, settings: createLaneSettings(directory), timers, now });
}

function flushesOf({ flushes: intervals }: SenderSettings, timers: TimerPort, now: () => number): FlushScheduler {
  return createFlushScheduler({ timers, now, intervals });
}

/** Sends the deliveries. */
@Module({
  imports: [StreamsModule, CommonModule, SubscriptionsModule, AttemptModule],
  controllers: [SenderController],
  providers: [
    DeliveryTasks,
    { provide: SENDER_SETTINGS, useValue: SETTINGS },
    {
      provide: ConcurrencyLimiter,
      inject: [SENDER_SETTINGS, SUBSCRIPTION_DIRECTORY, TIMERS, CLOCK],
      useFactory: limiterOf,
    },
    { provide: SENDER_FLUSHES, inject: [SENDER_SETTINGS, TIMERS, CLOCK], useFactory: flushesOf },
  ],
})
export class SenderModule {}
