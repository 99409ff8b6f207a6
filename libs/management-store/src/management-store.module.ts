import { randomBytes } from 'node:crypto';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MANAGEMENT_ENTITIES } from './entities.js';
import { OutboxStore } from './outbox/outbox.js';
import { ApiKeyStore, KEY_BYTES } from './stores/api-key-store.js';
import { ChangeStores } from './stores/change-stores.js';
import { FleetPortalStore } from './stores/fleet-portal-store.js';
import { FleetStore } from './stores/fleet-store.js';
import { GeofenceStore } from './stores/geofence-store.js';
import { IdempotencyStore } from './stores/idempotency-store.js';
import { OperationalEventStore } from './stores/operational-event-store.js';
import { PortalSessionStore } from './stores/portal-session-store.js';
import { ReplayStore } from './stores/replay-store.js';
import { SubscriptionStore } from './stores/subscription-store.js';

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
