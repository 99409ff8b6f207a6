import { Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Registry } from 'prom-client';
import { createKafkaBackend, type StreamsBackend } from '@waypost/streams';
import { registerStallMetrics, registerTransactionMetrics } from '@waypost/streams/prometheus';
import type { Logger } from '../logging/logger.js';
import { Readiness } from '../runtime/readiness.js';
import { type AppConfig, CLOCK, CONFIG, LOGGER } from '../runtime/runtime.module.js';

/** StreamsBackend */
export const STREAMS_BACKEND = Symbol('STREAMS_BACKEND');

/** The prefix of the metrics of libs/streams. */
export const METRICS_PREFIX = 'waypost_';

function createBackend({ kafka }: AppConfig, logger: Logger, nowMs: () => number, registry: Registry): StreamsBackend {
  if (kafka === undefined) throw new Error('The KafkaModule needs the Kafka settings in the configuration.');
  return createKafkaBackend({
    kafka,
    logger,
    now: nowMs,
    onCommit: registerTransactionMetrics({ registry, prefix: METRICS_PREFIX }),
  });
}

/** Closes last: consumers and tables use the connection until they end. */
@Injectable()
export class KafkaConnection implements OnApplicationShutdown {
  constructor(
    @Inject(STREAMS_BACKEND) private readonly backend: StreamsBackend,
    @Inject(CLOCK) nowMs: () => number,
    readiness: Readiness,
    registry: Registry,
  ) {
    readiness.addStalls(() => backend.stalls.all());
    registerStallMetrics({ registry, prefix: METRICS_PREFIX, now: nowMs }, () => readiness.stalls());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.backend.close();
  }
}

/** One connection to Kafka for the whole application. */
@Module({
  providers: [
    { provide: STREAMS_BACKEND, inject: [CONFIG, LOGGER, CLOCK, Registry], useFactory: createBackend },
    KafkaConnection,
  ],
  exports: [STREAMS_BACKEND],
})
export class KafkaModule {}
