import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Gauge, Histogram, Registry } from 'prom-client';
import { createKafkaBackend, STALL_KINDS, type StreamsBackend } from '@waypost/streams';
import type { Logger } from '../logging/logger.js';
import { Readiness } from '../runtime/readiness.js';
import { type AppConfig, CLOCK, CONFIG, LOGGER } from '../runtime/runtime.module.js';

/** StreamsBackend */
export const STREAMS_BACKEND = Symbol('STREAMS_BACKEND');

const TRANSACTION_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

function createBackend({ kafka }: AppConfig, logger: Logger, now: () => number, registry: Registry): StreamsBackend {
  if (kafka === undefined) throw new Error('The KafkaModule needs the Kafka settings in the configuration.');
  return createKafkaBackend({ kafka, logger, now, onCommit: measureTransactions(registry) });
}

export function measureTransactions(registry: Registry): (transactionalId: string, durationMs: number) => void {
  const durations = new Histogram({
    name: 'waypost_transaction_duration_seconds',
    help: 'From the begin of a Kafka transaction to the answer to its commit, by transactional id without its number.',
    labelNames: ['producer'],
    buckets: TRANSACTION_BUCKETS_S,
    registers: [registry],
  });
  return (transactionalId, durationMs) =>
    durations.observe({ producer: transactionalId.replace(/\.\d+$/, '') }, durationMs / 1_000);
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
  providers: [{ provide: STREAMS_BACKEND, inject: [CONFIG, LOGGER, CLOCK, Registry], useFactory: createBackend }],
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
