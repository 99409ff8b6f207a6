import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { createKafkaBackend, STALL_KINDS, type StreamsBackend } from '@waypost/streams';
import type { Logger } from '../logging/logger.js';
import { Readiness } from '../runtime/readiness.js';
import { type AppConfig, CLOCK, CONFIG, LOGGER } from '../runtime/runtime.module.js';

/** StreamsBackend */
export const STREAMS_BACKEND = Symbol('STREAMS_BACKEND');

function createBackend({ kafka }: AppConfig, logger: Logger, now: () => number): StreamsBackend {
  if (kafka === undefined) throw new Error('The KafkaModule needs the Kafka settings in the configuration.');
  return createKafkaBackend({ kafka, logger, now });
}

function registerStalls(registry: Registry, readiness: Readiness, now: () => number): void {
  new Gauge({
    name: 'waypost_stalled_seconds',
    help: 'How long the oldest read, table, transaction or processor that does not go on has been waiting; 0 when none is.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      for (const kind of STALL_KINDS) {
        const [oldest] = readiness.stalls().filter((stall) => stall.kind === kind);
        this.set({ kind }, oldest ? Math.max(0, now() - oldest.since) / 1_000 : 0);
      }
    },
  });
}

/** One connection to Kafka for all of the application. It goes last: consumers and tables use it until they end. */
@Module({
  providers: [{ provide: STREAMS_BACKEND, inject: [CONFIG, LOGGER, CLOCK], useFactory: createBackend }],
  exports: [STREAMS_BACKEND],
})
export class KafkaModule implements OnApplicationShutdown {
  constructor(
    @Inject(STREAMS_BACKEND) private readonly backend: StreamsBackend,
    @Inject(CLOCK) now: () => number,
    readiness: Readiness,
    registry: Registry,
  ) {
    readiness.addStalls(() => backend.stalls.all());
    registerStalls(registry, readiness, now);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.backend.close();
  }
}
