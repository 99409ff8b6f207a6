import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import { createDataSource, runMigrations } from '@waypost/database';
import type {
  FleetSettings,
  Geofence,
  OperationalEvent,
  ReplayProgress,
  WebhookReplay,
  WebhookSubscription,
} from '@waypost/domain';
import {
  FleetEntity,
  GeofenceEntity,
  MANAGEMENT_ENTITIES,
  OperationalEventEntity,
  WebhookReplayEntity,
  WebhookReplaySeriesEntity,
  WebhookSubscriptionEntity,
} from '../entities.js';
import { OperationalEventStore } from '../stores/operational-event-store.js';
import { ReplayStore } from '../stores/replay-store.js';

/** The managed resources as the topics have them: the newest version of each, without deleted ones. */
export interface ManagedResources {
  readonly fleets: readonly FleetSettings[];
  /** Geofences of these fleets, like the subscriptions. */
  readonly geofences: readonly Geofence[];
  readonly subscriptions: readonly WebhookSubscription[];
  readonly replays: readonly WebhookReplay[];
  /** In the order of the topic. */
  readonly replayProgress: readonly ReplayProgress[];
  /** The highest series of each subscription, by subscription id. */
  readonly lastSeries: ReadonlyMap<string, number>;
}

export type RefillResult =
  | { readonly type: 'refilled' }
  /** These tables have rows already. Nothing was written. */
  | { readonly type: 'not_empty'; readonly tables: readonly string[] };

/** Restores a lost database from the topics. */
export interface Refill {
  /** Those of the tables that must be empty that have rows: then the database is in use. */
  tablesInUse(): Promise<readonly string[]>;
  /** All or nothing, and only into a database that is not in use yet. */
  managedResources(resources: ManagedResources): Promise<RefillResult>;
  /** Events that are stored already change nothing. */
  operationalEvents(events: readonly OperationalEvent[]): Promise<void>;
  close(): Promise<void>;
}

/** Rows in any of these tables mean that the database is in use. */
const MUST_BE_EMPTY = ['fleets', 'api_keys', 'geofences', 'webhook_subscriptions', 'webhook_replays', 'outbox'];
const ROWS_PER_STATEMENT = 500;

/** Creates the missing tables. Rejects when the database cannot be reached. */
export async function openRefill(databaseUrl: string): Promise<Refill> {
  await runMigrations(databaseUrl);
  const settings = { entities: MANAGEMENT_ENTITIES, applicationName: 'waypost refill', seesAllFleets: true };
  const dataSource = await createDataSource(databaseUrl, settings).initialize();
  const events = new OperationalEventStore(dataSource.getRepository(OperationalEventEntity));
  return {
    tablesInUse: () => tablesInUse(dataSource.manager),
    managedResources: (resources) => refillManagedResources(dataSource.manager, resources),
    operationalEvents: (some) => events.keep(some),
    close: () => dataSource.destroy(),
  };
}

/**
 * One transaction. Nothing is appended to the outbox: the topics have these versions, and the next change of a resource is
 * its next version.
 */
function refillManagedResources(database: EntityManager, resources: ManagedResources): Promise<RefillResult> {
  return database.transaction(async (manager): Promise<RefillResult> => {
    // By hand, as TypeORM locks no tables. Other writers wait for this transaction and then see its rows.
    await manager.query(`LOCK TABLE ${MUST_BE_EMPTY.join(', ')} IN SHARE ROW EXCLUSIVE MODE`);
    const tables = await tablesInUse(manager);
    if (tables.length > 0) return { type: 'not_empty', tables };
    await insertAll(manager, FleetEntity, resources.fleets);
    await insertAll(manager, GeofenceEntity, resources.geofences);
    await insertAll(manager, WebhookSubscriptionEntity, resources.subscriptions);
    await insertAll(manager, WebhookReplayEntity, resources.replays);
    await new ReplayStore(manager.getRepository(WebhookReplayEntity)).recordProgress(resources.replayProgress);
    const series = [...resources.lastSeries].map(([subscriptionId, lastSeries]) => ({ subscriptionId, lastSeries }));
    await insertAll(manager, WebhookReplaySeriesEntity, series);
    return { type: 'refilled' };
  });
}

async function tablesInUse(manager: EntityManager): Promise<string[]> {
  const used: string[] = [];
  for (const table of MUST_BE_EMPTY) {
    const [row] = await manager.query<{ used: boolean }[]>(`SELECT EXISTS (SELECT FROM ${table}) AS used`);
    if (row?.used === true) used.push(table);
  }
  return used;
}

/** The records of the topics have the fields of the entities: both are the domain's type. */
async function insertAll<Entity extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<Entity>,
  rows: readonly object[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    const values = rows.slice(from, from + ROWS_PER_STATEMENT);
    await manager.createQueryBuilder().insert().into(entity).values(values).updateEntity(false).execute();
  }
}
