import { randomBytes as secureRandomBytes } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { createDataSource } from '@waypost/database';
import { createApiKeyStore } from './api-key-store.js';
import type { ChangeStores } from './change-stores.js';
import { MANAGEMENT_ENTITIES } from './entities.js';
import { createFleetStore } from './fleet-store.js';
import type { IdempotencyStore } from './idempotency-store.js';
import type { OperationStore } from './operation-store.js';
import { createGeofenceStore } from './postgres-geofence-store.js';
import { createIdempotencyStore } from './postgres-idempotency-store.js';
import { createOperationStore } from './postgres-operation-store.js';
import { createSubscriptionStore } from './postgres-subscription-store.js';
import { createReplayStore } from './replay-store-postgres.js';

/** Everything that people manage: fleets, keys, subscriptions, geofences. */
export interface ManagementStore extends ChangeStores {
  readonly operations: OperationStore;
  readonly idempotency: IdempotencyStore;
  /** Whether each of these changes has been published to its topic. */
  isPublished(outboxIds: readonly string[]): Promise<boolean>;
}

export interface ManagementStoreDeps {
  readonly dataSource: DataSource;
  /** Cryptographically secure; API keys come from it. */
  readonly randomBytes: (size: number) => Buffer;
}

/** The store on a data source that the caller owns. */
export function createManagementStore(deps: ManagementStoreDeps): ManagementStore {
  const database = deps.dataSource.manager;
  const storesOn = (manager: EntityManager): ChangeStores => createChangeStores(manager, deps.randomBytes);
  return {
    ...storesOn(database),
    operations: createOperationStore(deps.dataSource),
    idempotency: createIdempotencyStore({ database, storesOn }),
    async isPublished(outboxIds) {
      const [row] = await deps.dataSource.query<{ waiting: boolean }[]>(
        'SELECT EXISTS (SELECT FROM outbox WHERE published_at IS NULL AND id = ANY($1::bigint[])) AS waiting',
        [outboxIds],
      );
      return row?.waiting !== true;
    },
  };
}

/** On any connection: inside a transaction, their own are savepoints of it. */
function createChangeStores(database: EntityManager, randomBytes: (size: number) => Buffer): ChangeStores {
  return {
    ...createFleetStore(database),
    ...createApiKeyStore({ database, randomBytes }),
    subscriptions: createSubscriptionStore(database),
    replays: createReplayStore(database),
    geofences: createGeofenceStore(database),
  };
}

/**
 * For tools: a store with its own connection to a migrated database. Close it when done.
 *
 *     const store = await openManagementStore(databaseUrl);
 *     await store.createFleet({ fleetId: 'acme', payloadFormat: 'v1', nowMs: Date.now() });
 *     const made = await store.createApiKey({ fleetId: 'acme', scopes: API_KEY_SCOPES, nowMs: Date.now() });
 *     await store.close();
 */
export async function openManagementStore(databaseUrl: string): Promise<ManagementStore & { close(): Promise<void> }> {
  const dataSource = await createDataSource(databaseUrl, { entities: MANAGEMENT_ENTITIES }).initialize();
  return {
    ...createManagementStore({ dataSource, randomBytes: secureRandomBytes }),
    close: () => dataSource.destroy(),
  };
}
