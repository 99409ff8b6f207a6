import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { MONOTONIC_CLOCK, QuarantineModule } from '@waypost/platform';
import { createDeliveryMetrics, DeliveryMetrics } from '../metrics/delivery-metrics.js';
import { nodeTimers } from './timers.js';

/** TimerPort */
export const TIMERS = Symbol('TIMERS');
/** `() => number`: uniform in [0, 1) */
export const RANDOM = Symbol('RANDOM');

/** What a process has for all of its stages: timers, randomness, metrics and the quarantine. */
@Module({
  imports: [QuarantineModule],
  providers: [
    { provide: TIMERS, useValue: nodeTimers },
    { provide: RANDOM, useValue: Math.random },
    { provide: DeliveryMetrics, inject: [Registry, MONOTONIC_CLOCK], useFactory: createDeliveryMetrics },
  ],
  exports: [TIMERS, RANDOM, DeliveryMetrics, QuarantineModule],
})
export class ProcessModule {}
