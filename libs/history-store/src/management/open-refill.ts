import type { OperationalEvent } from '@waypost/domain';
import { createDataSource } from '../data-source.js';
import { runMigrations } from '../run-migrations.js';
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
  const dataSource = await createDataSource(databaseUrl, { applicationName: 'waypost refill' }).initialize();
  const store = createOperationStore(dataSource);
  return {
    managedThings: (things) => refillManagedThings(dataSource.manager, things),
    operations: (events) => store.keep(events),
    close: () => dataSource.destroy(),
  };
}
