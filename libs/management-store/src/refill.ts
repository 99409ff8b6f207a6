import type { FleetSettings, Geofence, ReplayProgress, WebhookReplay, WebhookSubscription } from '@waypost/domain';
import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import { FleetEntity } from './fleet.entity.js';
import { GeofenceEntity } from './geofence.entity.js';
import { INSERT_REPLAY, replayValues } from './replay-rows.js';
import { createReplayStore } from './replay-store-postgres.js';
import { WebhookSubscriptionEntity } from './webhook-subscription.entity.js';

/** What the topics say is managed: of each thing the newest version, and nothing that was deleted. */
export interface ManagedThings {
  readonly fleets: readonly FleetSettings[];
  /** Of these fleets, like the subscriptions. */
  readonly geofences: readonly Geofence[];
  readonly subscriptions: readonly WebhookSubscription[];
  readonly replays: readonly WebhookReplay[];
  /** In the order of the topic. */
  readonly replayProgress: readonly ReplayProgress[];
  /** The highest series that a subscription was given, by subscription id. */
  readonly lastSeries: ReadonlyMap<string, number>;
}

export type RefillResult =
  | { readonly type: 'refilled' }
  /** These tables hold something already. Nothing was written. */
  | { readonly type: 'not_empty'; readonly tables: readonly string[] };

/** Whose rows would mean that somebody has begun to use the database. */
const MUST_BE_EMPTY = ['fleets', 'api_keys', 'geofences', 'webhook_subscriptions', 'webhook_replays', 'outbox'];
const ROWS_A_STATEMENT = 500;

/**
 * Fills an empty database with what is managed, in one transaction. Nothing goes into the outbox: the topics have these
 * versions, and the next change of a thing is its next version.
 */
export function refillManagedThings(database: EntityManager, things: ManagedThings): Promise<RefillResult> {
  return database.transaction(async (manager): Promise<RefillResult> => {
    // Whoever would make a fleet meanwhile waits, and finds everything there.
    await manager.query(`LOCK TABLE ${MUST_BE_EMPTY.join(', ')} IN SHARE ROW EXCLUSIVE MODE`);
    const tables = await tablesInUse(manager);
    if (tables.length > 0) return { type: 'not_empty', tables };
    await insertAll(manager, FleetEntity, things.fleets);
    await insertAll(manager, GeofenceEntity, things.geofences);
    await insertAll(manager, WebhookSubscriptionEntity, things.subscriptions);
    for (const replay of things.replays) await manager.query(INSERT_REPLAY, replayValues(replay));
    await createReplayStore(manager).recordProgress(things.replayProgress);
    await manager.query(
      `INSERT INTO webhook_replay_series (subscription_id, last_series)
       SELECT * FROM unnest($1::uuid[], $2::integer[])`,
      [[...things.lastSeries.keys()], [...things.lastSeries.values()]],
    );
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

async function insertAll<Entity extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<Entity>,
  rows: readonly object[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
    const values = rows.slice(from, from + ROWS_A_STATEMENT);
    // A version as a topic holds it has the fields of the entity: both are the domain's type.
    await manager.createQueryBuilder().insert().into(entity).values(values).updateEntity(false).execute();
  }
}
