import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { AvroCodecs } from '@waypost/contracts';
import { OutboxStore } from '@waypost/management-store';
import { CLOCK, CODECS, CONFIG, KafkaModule, LOGGER, MONOTONIC_CLOCK, STREAMS_BACKEND } from '@waypost/platform';
import type { StreamsBackend, StreamsLogger } from '@waypost/streams';
import type { PublicApiConfig } from '../config.js';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { createOutbox } from './create-outbox.js';
import { OutboxPublisher } from './outbox-publisher.js';
import { createPublishedChanges, PublishedChanges } from './published-changes.js';

/** Stops before HTTP closes, so that requests which wait for a publication are answered. */
@Injectable()
class OutboxLifecycle implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(private readonly publisher: OutboxPublisher) {}

  onApplicationBootstrap(): void {
    this.publisher.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.publisher.stop();
  }
}

/** Publishes changes of managed rows to their topics. */
@Module({
  imports: [ApiDatabaseModule, KafkaModule],
  providers: [
    OutboxLifecycle,
    {
      provide: OutboxPublisher,
      inject: [CONFIG, STREAMS_BACKEND, CODECS, LOGGER, CLOCK, MONOTONIC_CLOCK],
      useFactory: createPublisher,
    },
    {
      provide: PublishedChanges,
      inject: [OutboxStore, MONOTONIC_CLOCK],
      useFactory: (outbox: OutboxStore, monotonicMs: () => number) =>
        createPublishedChanges({
          isPublished: (ids) => outbox.isPublished(ids),
          monotonicMs,
          sleep,
        }),
    },
  ],
  exports: [PublishedChanges],
})
export class OutboxModule {}

function createPublisher(
  { database }: Pick<PublicApiConfig, 'database'>,
  backend: StreamsBackend,
  codecs: AvroCodecs,
  logger: StreamsLogger,
  nowMs: () => number,
  monotonicMs: () => number,
): OutboxPublisher {
  return createOutbox({ databaseUrl: database.url, codecs, backend, logger, nowMs, monotonicMs });
}
