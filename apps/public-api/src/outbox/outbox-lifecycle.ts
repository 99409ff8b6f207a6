import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { AvroCodecs } from '@waypost/contracts';
import { CLOCK, CODECS, CONFIG, LOGGER, MONOTONIC_CLOCK, STREAMS_BACKEND } from '@waypost/platform';
import type { StreamsBackend, StreamsLogger } from '@waypost/streams';
import type { PublicApiConfig } from '../config.js';
import { createOutbox } from './create-outbox.js';
import type { OutboxPublisher } from './outbox-publisher.js';

/** Publishes from the start on. It stops before HTTP closes, so that requests which wait for a publication are answered. */
@Injectable()
export class OutboxLifecycle implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly publisher: OutboxPublisher;

  constructor(
    @Inject(CONFIG) { database }: Pick<PublicApiConfig, 'database'>,
    @Inject(STREAMS_BACKEND) backend: StreamsBackend,
    @Inject(CODECS) codecs: AvroCodecs,
    @Inject(LOGGER) logger: StreamsLogger,
    @Inject(CLOCK) nowMs: () => number,
    @Inject(MONOTONIC_CLOCK) monotonicMs: () => number,
  ) {
    this.publisher = createOutbox({ databaseUrl: database.url, backend, codecs, logger, nowMs, monotonicMs });
  }

  onApplicationBootstrap(): void {
    this.publisher.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.publisher.stop();
  }
}
