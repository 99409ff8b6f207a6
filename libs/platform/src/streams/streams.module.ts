import { Module } from '@nestjs/common';
import { KafkaModule } from './kafka.module.js';
import { QuarantineModule } from './quarantine.js';
import { BackendRuntime, StreamsRuntime } from './streams-runtime.js';
import { StreamsServer } from './streams-server.js';

/** The transport of `@StreamTask` and `@PartitionConsumer` handlers. */
@Module({
  imports: [KafkaModule, QuarantineModule],
  providers: [{ provide: StreamsRuntime, useClass: BackendRuntime }, StreamsServer],
  exports: [StreamsServer, KafkaModule],
})
export class StreamsModule {}
