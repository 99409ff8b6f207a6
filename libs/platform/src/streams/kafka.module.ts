import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { createKafkaBackend, type StreamsBackend } from '@waypost/streams';
import type { Logger } from '../logging/logger.js';
import { type AppConfig, CLOCK, CONFIG, LOGGER } from '../runtime/runtime.module.js';

/** StreamsBackend */
export const STREAMS_BACKEND = Symbol('STREAMS_BACKEND');

function createBackend({ kafka }: AppConfig, logger: Logger, now: () => number): StreamsBackend {
  if (kafka === undefined) throw new Error('The KafkaModule needs the Kafka settings in the configuration.');
  return createKafkaBackend({ kafka, logger, now });
}

/** One connection to Kafka for all of the application. It goes last: consumers and tables use it until they end. */
@Module({
  providers: [{ provide: STREAMS_BACKEND, inject: [CONFIG, LOGGER, CLOCK], useFactory: createBackend }],
  exports: [STREAMS_BACKEND],
})
export class KafkaModule implements OnApplicationShutdown {
  constructor(@Inject(STREAMS_BACKEND) private readonly backend: StreamsBackend) {}

  async onApplicationShutdown(): Promise<void> {
    await this.backend.close();
  }
}
