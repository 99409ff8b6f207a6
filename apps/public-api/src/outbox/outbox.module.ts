import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DynamicModule,
  Global,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import type { AvroCodecs } from '@waypost/contracts';
import { OutboxStore } from '@waypost/management-store';
import { STREAMS_BACKEND } from '@waypost/platform';
import type { StreamsBackend } from '@waypost/streams';
import { AVRO_CODECS } from '../kafka/kafka.module.js';
import { type ApiLogger, CLOCK, type Clock, LOGGER } from '../runtime/runtime.module.js';
import { createOutbox } from './create-outbox.js';
import type { OutboxPublisher } from './outbox-publisher.js';
import { createPublishedChanges, PublishedChanges } from './published-changes.js';

const OUTBOX_PUBLISHER = Symbol('outbox publisher');

/** Stops before HTTP closes, so that requests which wait for a publication are answered. */
@Injectable()
class OutboxLifecycle implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(@Inject(OUTBOX_PUBLISHER) private readonly publisher: OutboxPublisher) {}

  onApplicationBootstrap(): void {
    this.publisher.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.publisher.stop();
  }
}

/** Publishes changes of managed rows to their topics. */
@Global()
@Module({})
export class OutboxModule {
  static forRoot({ databaseUrl }: { readonly databaseUrl: string }): DynamicModule {
    return {
      module: OutboxModule,
      providers: [
        OutboxLifecycle,
        {
          provide: OUTBOX_PUBLISHER,
          inject: [STREAMS_BACKEND, AVRO_CODECS, LOGGER, CLOCK],
          useFactory: (backend: StreamsBackend, codecs: AvroCodecs, logger: ApiLogger, now: Clock) =>
            createOutbox({ databaseUrl, codecs, backend, logger, now }),
        },
        {
          provide: PublishedChanges,
          inject: [OutboxStore, OUTBOX_PUBLISHER, CLOCK],
          useFactory: (outbox: OutboxStore, publisher: OutboxPublisher, now: Clock) =>
            createPublishedChanges({
              isPublished: (ids) => outbox.isPublished(ids),
              isStopping: () => publisher.isStopped(),
              now,
              sleep,
            }),
        },
      ],
      exports: [PublishedChanges],
    };
  }
}
