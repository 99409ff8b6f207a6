import { Module } from '@nestjs/common';
import type { AvroCodecs } from '@waypost/contracts';
import { CODECS, KafkaModule, STREAMS_BACKEND } from '@waypost/platform';
import type { StreamsBackend } from '@waypost/streams';
import { AttemptLog, createAttemptLog } from './attempt-log.js';

/** Apart from the resource: a test of the resource replaces it, and needs no Kafka. */
@Module({
  imports: [KafkaModule],
  providers: [
    {
      provide: AttemptLog,
      inject: [STREAMS_BACKEND, CODECS],
      useFactory: (backend: StreamsBackend, codecs: AvroCodecs) => createAttemptLog(backend, codecs),
    },
  ],
  exports: [AttemptLog],
})
export class AttemptLogModule {}
