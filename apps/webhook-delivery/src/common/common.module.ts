import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { Registry } from 'prom-client';
import { type AvroCodecs, createAvroCodecs, createSchemaRegistry } from '@waypost/contracts';
import { CONFIG, KafkaModule, Quarantine, quarantineProvider, type RegistryConfig, STOPPING } from '@waypost/platform';
import { settleOrAbort } from '@waypost/streams';
import { createDeliveryMetrics } from './delivery-metrics.js';
import { nodeTimers } from './timers.js';

/** AvroCodecs */
export const CODECS = Symbol('CODECS');
/** TimerPort */
export const TIMERS = Symbol('TIMERS');
/** `() => number`: uniform in [0, 1) */
export const RANDOM = Symbol('RANDOM');
/** DeliveryMetrics */
export const DELIVERY_METRICS = Symbol('DELIVERY_METRICS');

function codecsOf({ registry }: { readonly registry: RegistryConfig }): AvroCodecs {
  return createAvroCodecs({ registry: createSchemaRegistry(registry) });
}

/** What all stages share: codecs, timers, randomness, metrics and the quarantine. */
@Module({
  imports: [KafkaModule],
  providers: [
    { provide: CODECS, inject: [CONFIG], useFactory: codecsOf },
    { provide: TIMERS, useValue: nodeTimers },
    { provide: RANDOM, useValue: Math.random },
    { provide: DELIVERY_METRICS, inject: [Registry], useFactory: createDeliveryMetrics },
    quarantineProvider(CODECS),
  ],
  exports: [CODECS, TIMERS, RANDOM, DELIVERY_METRICS, Quarantine],
})
export class CommonModule implements OnModuleInit {
  constructor(
    @Inject(CODECS) private readonly codecs: AvroCodecs,
    @Inject(STOPPING) private readonly stopping: AbortSignal,
  ) {}

  /** Registers the schemas of all topics that this application writes, before the first consumer starts. */
  async onModuleInit(): Promise<void> {
    const { webhookDeliveries, webhookAttempts, subscriptionState, webhookOperations } = this.codecs;
    const { replayProgress, telemetryRejected: rejected } = this.codecs;
    const states = [subscriptionState, webhookOperations, replayProgress];
    const written = [webhookDeliveries, webhookAttempts, rejected, ...states];
    await settleOrAbort(Promise.all(written.map((codec) => codec.prepare())), this.stopping);
  }
}
