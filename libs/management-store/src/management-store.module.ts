import { randomBytes } from 'node:crypto';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKeyStore, KEY_BYTES } from './api-key-store.js';
import { ChangeStores } from './change-stores.js';
import { MANAGEMENT_ENTITIES } from './entities.js';
import { FleetPortalStore } from './fleet-portal-store.js';
import { FleetStore } from './fleet-store.js';
import { GeofenceStore } from './geofence-store.js';
import { IdempotencyStore } from './idempotency-store.js';
import { OperationalEventStore } from './operational-event-store.js';
import { OutboxStore } from './outbox.js';
import { PortalSessionStore } from './portal-session-store.js';
import { ReplayStore } from './replay-store.js';
import { SubscriptionStore } from './subscription-store.js';

const STORES = [
  FleetStore,
  ApiKeyStore,
  PortalSessionStore,
  FleetPortalStore,
  SubscriptionStore,
  GeofenceStore,
  ReplayStore,
  ChangeStores,
  OperationalEventStore,
  IdempotencyStore,
  OutboxStore,
];

/** The stores as injectable classes. The application imports `DatabaseModule.forRootAsync` once. */
@Module({
  imports: [TypeOrmModule.forFeature(MANAGEMENT_ENTITIES)],
  providers: [...STORES, { provide: KEY_BYTES, useValue: randomBytes }],
  exports: STORES,
})
export class ManagementStoreModule {}
