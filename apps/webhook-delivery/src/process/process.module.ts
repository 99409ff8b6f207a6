import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { CLOCK, MONOTONIC_CLOCK, QuarantineModule } from '@waypost/platform';
import { createDeliveryMetrics, DeliveryMetrics } from '../metrics/delivery-metrics.js';
import { Headroom } from './headroom.js';
import { nodeTimers } from './timers.js';

export const TIMERS = Symbol('TIMERS');
/** `() => number`: uniform in [0, 1) */
export const RANDOM = Symbol('RANDOM');

/** What a process has for all of its stages: timers, randomness, headroom, metrics and the quarantine. */
@Module({
  imports: [QuarantineModule],
  providers: [
    { provide: TIMERS, useValue: nodeTimers },
    { provide: RANDOM, useValue: Math.random },
    Headroom,
    {
      provide: DeliveryMetrics,
      inject: [Registry, CLOCK, MONOTONIC_CLOCK],
      useFactory: (registry: Registry, nowMs: () => number, monotonicMs: () => number) =>
        createDeliveryMetrics(registry, { nowMs, monotonicMs }),
    },
  ],
  exports: [TIMERS, RANDOM, Headroom, DeliveryMetrics, QuarantineModule],
})
export class ProcessModule {}
