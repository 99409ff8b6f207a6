import { randomBytes as secureRandomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../data-source.js';
import { createFleetStore, type FleetStore } from './fleet-store.js';
import type { OperationStore } from './operation-store.js';
import { createOperationStore } from './postgres-operation-store.js';
import { createSubscriptionStore } from './postgres-subscription-store.js';
import type { ReplayStore } from './replay-store.js';
import { createReplayStore } from './replay-store-postgres.js';
import type { SubscriptionStore } from './subscription-store.js';

/** Everything that people manage: fleets, keys, subscriptions. */
export interface ManagementStore extends FleetStore {
  readonly subscriptions: SubscriptionStore;
  readonly operations: OperationStore;
  readonly replays: ReplayStore;
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
  return {
    ...createFleetStore(deps),
    subscriptions: createSubscriptionStore(deps.dataSource),
    operations: createOperationStore(deps.dataSource),
    replays: createReplayStore(deps.dataSource),
    async isPublished(outboxIds) {
      const [row] = await deps.dataSource.query<{ waiting: boolean }[]>(
        'SELECT EXISTS (SELECT FROM outbox WHERE published_at IS NULL AND id = ANY($1::bigint[])) AS waiting',
        [outboxIds],
      );
      return row?.waiting !== true;
    },
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
  const dataSource = await createDataSource(databaseUrl).initialize();
  return {
    ...createManagementStore({ dataSource, randomBytes: secureRandomBytes }),
    close: () => dataSource.destroy(),
  };
}
