import { Module } from '@nestjs/common';
import type { AvroCodecs } from '@waypost/contracts';
import { CLOCK, CODECS, KafkaModule, STREAMS_BACKEND } from '@waypost/platform';
import type { StreamsBackend } from '@waypost/streams';
import { AttemptLogReader, createAttemptLog } from './attempt-log-reader.js';

/** Apart from the resource: a test of the resource replaces it, and needs no Kafka. */
@Module({
  imports: [KafkaModule],
  providers: [
    {
      provide: AttemptLogReader,
      inject: [STREAMS_BACKEND, CODECS, CLOCK],
      useFactory: (backend: StreamsBackend, codecs: AvroCodecs, nowMs: () => number) =>
        createAttemptLog(backend, codecs, nowMs),
    },
  ],
  exports: [AttemptLogReader],
})
export class AttemptLogModule {}
