import type { OperationalEvent } from '@waypost/domain';
import { createDataSource, runMigrations } from '@waypost/database';
import { MANAGEMENT_ENTITIES } from './entities.js';
import { createOperationStore } from './postgres-operation-store.js';
import { refillManagedThings, type ManagedThings, type RefillResult } from './refill.js';

/** For tools: a database that was lost, and what can be put into it again. */
export interface Refill {
  /** All or nothing, and only into a database that nobody uses yet. */
  managedThings(things: ManagedThings): Promise<RefillResult>;
  /** What is kept already changes nothing. */
  operations(events: readonly OperationalEvent[]): Promise<void>;
  close(): Promise<void>;
}

/** Makes the tables that are missing. Rejects when the database cannot be reached. */
export async function openRefill(databaseUrl: string): Promise<Refill> {
  await runMigrations(databaseUrl);
  const settings = { entities: MANAGEMENT_ENTITIES, applicationName: 'waypost refill' };
  const dataSource = await createDataSource(databaseUrl, settings).initialize();
  const store = createOperationStore(dataSource);
  return {
    managedThings: (things) => refillManagedThings(dataSource.manager, things),
    operations: (events) => store.keep(events),
    close: () => dataSource.destroy(),
  };
}
