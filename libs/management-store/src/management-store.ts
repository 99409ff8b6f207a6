import { randomBytes as secureRandomBytes } from 'node:crypto';
import { createDataSource } from '@waypost/database';
import type { DataSource } from 'typeorm';
import type { RandomBytes } from './api-key-store.js';
import { type ChangeStores, createChangeStores } from './change-stores.js';
import { IdempotencyKeyEntity, MANAGEMENT_ENTITIES, OperationalEventEntity, OutboxEntity } from './entities.js';
import { IdempotencyStore } from './idempotency-store.js';
import { OperationalEventStore } from './operational-event-store.js';
import { OutboxStore } from './outbox.js';

/** All stores of management-store, for tools and tests without Nest. */
export interface ManagementStore extends ChangeStores {
  readonly operations: OperationalEventStore;
  readonly idempotency: IdempotencyStore;
  readonly outbox: OutboxStore;
}

export interface ManagementStoreDeps {
  readonly dataSource: DataSource;
  readonly randomBytes: RandomBytes;
}

/** The stores on a data source that the caller owns; it was created with MANAGEMENT_ENTITIES. */
export function createManagementStore({ dataSource, randomBytes }: ManagementStoreDeps): ManagementStore {
  return {
    ...createChangeStores(dataSource.manager, randomBytes),
    operations: new OperationalEventStore(dataSource.getRepository(OperationalEventEntity)),
    idempotency: new IdempotencyStore(dataSource.getRepository(IdempotencyKeyEntity), randomBytes),
    outbox: new OutboxStore(dataSource.getRepository(OutboxEntity)),
  };
}

/**
 * A store with its own connection to a migrated database. Close it when done.
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
