import { randomBytes } from 'node:crypto';
import { createDataSource } from '@waypost/database';
import {
  FleetPortalEntity,
  IdempotencyKeyEntity,
  MANAGEMENT_ENTITIES,
  OperationalEventEntity,
  OutboxEntity,
} from './entities.js';
import { OutboxStore } from './outbox/outbox.js';
import { ChangeStores } from './stores/change-stores.js';
import { FleetPortalStore } from './stores/fleet-portal-store.js';
import { IdempotencyStore } from './stores/idempotency-store.js';
import { OperationalEventStore } from './stores/operational-event-store.js';

/** All stores of management-store, for tools and tests without Nest. */
export interface ManagementStore extends ChangeStores {
  readonly fleetPortals: FleetPortalStore;
  readonly operationalEvents: OperationalEventStore;
  readonly idempotency: IdempotencyStore;
  readonly outbox: OutboxStore;
  /** Disconnects. */
  close(): Promise<void>;
}

/**
 * The stores on their own connection to a migrated database.
 *
 *     const store = await openManagementStore(databaseUrl);
 *     await store.fleets.create({ fleetId: 'acme', payloadFormat: 'v1', nowMs: Date.now() });
 *     const made = await store.apiKeys.create({ fleetId: 'acme', scopes: API_KEY_SCOPES, nowMs: Date.now() });
 *     await store.close();
 */
export async function openManagementStore(databaseUrl: string): Promise<ManagementStore> {
  const dataSource = await createDataSource(databaseUrl, { entities: MANAGEMENT_ENTITIES }).initialize();
  return Object.assign(ChangeStores.on(dataSource.manager, randomBytes), {
    fleetPortals: new FleetPortalStore(dataSource.getRepository(FleetPortalEntity)),
    operationalEvents: new OperationalEventStore(dataSource.getRepository(OperationalEventEntity)),
    idempotency: new IdempotencyStore(dataSource.getRepository(IdempotencyKeyEntity), randomBytes),
    outbox: new OutboxStore(dataSource.getRepository(OutboxEntity)),
    close: () => dataSource.destroy(),
  });
}
