import { Module } from '@nestjs/common';
import type { StreamsBackend } from '@waypost/streams';
import type { Logger } from '../logging/logger.js';
import { type AppConfig, CLOCK, CONFIG, LOGGER, RANDOM } from '../runtime/runtime.module.js';
import { KafkaModule, STREAMS_BACKEND } from './kafka.module.js';
import { QuarantineModule } from './quarantine.js';
import { BackendRuntime, StreamsRuntime } from './streams-runtime.js';
import { StreamsServer } from './streams-server.js';

function createRuntime(
  backend: StreamsBackend,
  { process: { instanceId }, stateDir, lingerMs }: AppConfig,
  logger: Logger,
  nowMs: () => number,
  random: () => number,
): StreamsRuntime {
  return new BackendRuntime({ backend, instanceId, stateDir, lingerMs, logger, now: nowMs, random });
}

/** The transport of `@StreamTask` and `@PartitionConsumer` handlers. */
@Module({
  imports: [KafkaModule, QuarantineModule],
  providers: [
    { provide: StreamsRuntime, inject: [STREAMS_BACKEND, CONFIG, LOGGER, CLOCK, RANDOM], useFactory: createRuntime },
    StreamsServer,
  ],
  exports: [StreamsServer, KafkaModule],
})
export class StreamsModule {}
