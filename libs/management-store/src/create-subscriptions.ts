import { isRouteEventType, type WebhookSubscription } from '@waypost/domain';
import { type EntityManager, In } from 'typeorm';
import { changeFleet } from './fleet-store.js';
import { FOREIGN_KEY_VIOLATION, sqlState } from '@waypost/database';
import type { NewSubscription } from './subscription.js';
import type { CreateSubscriptionsResult, TakenSubscription } from './subscription-store.js';
import { appendVersions, firstVersion } from './subscription-versions.js';
import { WebhookSubscriptionEntity } from './webhook-subscription.entity.js';

/**
 * Makes all or none, in one transaction with their outbox rows. Whoever subscribes to routes or stops turns them on for the
 * fleet, before the subscription: once both are published, its events come.
 */
export async function createSubscriptions(
  database: EntityManager,
  drafts: readonly NewSubscription[],
  nowMs: number,
): Promise<CreateSubscriptionsResult> {
  const subscriptions = drafts.map((draft) => firstVersion(draft, nowMs));
  try {
    return await database.transaction(async (manager): Promise<CreateSubscriptionsResult> => {
      const turnedOn = await turnRoutesOn(manager, subscriptions, nowMs);
      await insertAll(manager, subscriptions);
      const made = await appendVersions(manager, subscriptions, nowMs);
      return { type: 'created', subscriptions, outboxIds: [...turnedOn, ...made] };
    });
  } catch (error) {
    if (error instanceof SubscriptionsTaken) return { type: 'conflict', taken: error.taken };
    if (sqlState(error) === FOREIGN_KEY_VIOLATION) return { type: 'fleet_not_found' };
    throw error;
  }
}

/** Rolls the creation back; never leaves this file. */
class SubscriptionsTaken extends Error {
  constructor(readonly taken: readonly TakenSubscription[]) {
    super('subscriptions exist');
  }
}

/** @returns the outbox ids of what that changed; a fleet that does not exist is left to the insert */
async function turnRoutesOn(
  manager: EntityManager,
  subscriptions: readonly WebhookSubscription[],
  nowMs: number,
): Promise<readonly string[]> {
  const wanting = subscriptions.filter(({ eventType }) => isRouteEventType(eventType));
  const outboxIds: string[] = [];
  // In one order, as the insert below.
  for (const fleetId of [...new Set(wanting.map((subscription) => subscription.fleetId))].sort()) {
    const result = await changeFleet(manager, { fleetId, change: { routes: true }, nowMs, expected: null });
    if (result.type === 'changed') outboxIds.push(...result.outboxIds);
  }
  return outboxIds;
}

async function insertAll(manager: EntityManager, subscriptions: readonly WebhookSubscription[]): Promise<void> {
  // In one order whoever inserts: two callers with the same types in another order must not deadlock.
  const rows = [...subscriptions].sort((a, b) => (a.eventType < b.eventType ? -1 : 1));
  const insert = manager.createQueryBuilder().insert().into(WebhookSubscriptionEntity).values(rows).orIgnore();
  // Without updateEntity(false) the n-th returned id is written into the n-th row given, though ignored ones return none.
  const inserted = await insert.returning('id').updateEntity(false).execute();
  const made = new Set((inserted.raw as { id: string }[]).map((row) => row.id));
  const refused = subscriptions.filter((subscription) => !made.has(subscription.id));
  if (refused.length > 0) throw new SubscriptionsTaken(await findTaken(manager, refused));
}

/** All of one creation go to one URL of one fleet. */
async function findTaken(
  manager: EntityManager,
  refused: readonly WebhookSubscription[],
): Promise<readonly TakenSubscription[]> {
  const [first] = refused;
  if (first === undefined) return [];
  const { fleetId, url } = first;
  const eventTypes = refused.map((subscription) => subscription.eventType);
  const found = await manager.findBy(WebhookSubscriptionEntity, { fleetId, url, eventType: In(eventTypes) });
  const ids = new Map(found.map(({ eventType, id }) => [eventType, id]));
  return eventTypes.map((eventType) => ({ eventType, id: ids.get(eventType) ?? null }));
}
