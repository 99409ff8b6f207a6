import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { MONOTONIC_CLOCK, QuarantineModule } from '@waypost/platform';
import { createDeliveryMetrics } from './delivery-metrics.js';
import { nodeTimers } from './timers.js';

/** TimerPort */
export const TIMERS = Symbol('TIMERS');
/** `() => number`: uniform in [0, 1) */
export const RANDOM = Symbol('RANDOM');
/** DeliveryMetrics */
export const DELIVERY_METRICS = Symbol('DELIVERY_METRICS');

/** What all stages share: timers, randomness, metrics and the quarantine. */
@Module({
  imports: [QuarantineModule],
  providers: [
    { provide: TIMERS, useValue: nodeTimers },
    { provide: RANDOM, useValue: Math.random },
    { provide: DELIVERY_METRICS, inject: [Registry, MONOTONIC_CLOCK], useFactory: createDeliveryMetrics },
  ],
  exports: [TIMERS, RANDOM, DELIVERY_METRICS, QuarantineModule],
})
export class CommonModule {}
