import { Module } from '@nestjs/common';
import { Registry } from 'prom-client';
import { CLOCK, MONOTONIC_CLOCK, QuarantineModule } from '@waypost/platform';
import { createDeliveryMetrics, DeliveryMetrics } from '../metrics/delivery-metrics.js';
import { Headroom } from './headroom.js';
import { TimersModule } from './timers.module.js';

/** What a process has for all of its stages: timers, headroom, metrics and the quarantine. */
@Module({
  imports: [QuarantineModule, TimersModule],
  providers: [
    Headroom,
    {
      provide: DeliveryMetrics,
      inject: [Registry, CLOCK, MONOTONIC_CLOCK],
      useFactory: (registry: Registry, nowMs: () => number, monotonicMs: () => number) =>
        createDeliveryMetrics(registry, { nowMs, monotonicMs }),
    },
  ],
  exports: [TimersModule, Headroom, DeliveryMetrics, QuarantineModule],
})
export class ProcessModule {}
