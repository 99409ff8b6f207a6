import { setTimeout as sleep } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { OutboxStore } from '@waypost/management-store';
import { KafkaModule, MONOTONIC_CLOCK } from '@waypost/platform';
import { ApiDatabaseModule } from '../database/api-database.module.js';
import { OutboxLifecycle } from './outbox-lifecycle.js';
import { createPublishedChanges, PublishedChanges } from './published-changes.js';

/** Publishes changes of managed rows to their topics. */
@Module({
  imports: [ApiDatabaseModule, KafkaModule],
  providers: [
    OutboxLifecycle,
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
