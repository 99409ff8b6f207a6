import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import { MONOTONIC_CLOCK } from '@waypost/platform';
import { Headroom } from '../process/headroom.js';
import type { TimerPort } from '../process/timers.js';
import { TIMERS } from '../process/timers.module.js';
import { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import { DeliveryScheduler } from './scheduling/delivery-scheduler.js';
import { createLaneSettings } from './scheduling/lane-settings.js';
import { registerSchedulerGauges } from './scheduling/scheduler-gauges.js';
import { SENDER_SETTINGS, type SenderSettings } from './sender-settings.js';

/** The scheduler of all partitions of the process. */
@Injectable()
export class SenderScheduler extends DeliveryScheduler {
  constructor(
    @Inject(SENDER_SETTINGS) { slots, reservations }: Pick<SenderSettings, 'slots' | 'reservations'>,
    directory: SubscriptionDirectory,
    @Inject(TIMERS) timers: TimerPort,
    @Inject(MONOTONIC_CLOCK) monotonicMs: () => number,
    headroom: Headroom,
    registry: Registry,
  ) {
    super({ slots, reservations, settings: createLaneSettings(directory), timers, monotonicMs, headroom });
    registerSchedulerGauges(this, registry);
  }
}
