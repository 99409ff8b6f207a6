import { type EntityManager, In } from 'typeorm';
import { inFleet } from '@waypost/database';
import { isRouteEventType, type WebhookSubscription } from '@waypost/domain';
import { WebhookSubscriptionEntity } from '../entities.js';
import {
  deviceIdCount,
  type FleetLimits,
  type LimitReached,
  NO_LIMITS,
  subscriptionLimitReached,
} from './fleet-limits.js';
import { changeFleet, lockFleet } from './fleet-store.js';
import { appendVersions } from './subscription-versions.js';

/** What a caller decides about a new subscription; the store adds version and times. */
export type NewSubscription = Omit<
  WebhookSubscription,
  'version' | 'createdAt' | 'updatedAt' | 'status' | 'disabledReason'
>;

/** The subscription that already exists; `id` is null when it was deleted at the same moment. */
export interface TakenSubscription {
  readonly eventType: string;
  readonly id: string | null;
}

export type CreateSubscriptionsResult =
  | {
      readonly type: 'created';
      readonly subscriptions: readonly WebhookSubscription[];
      readonly outboxIds: readonly string[];
    }
  /** These event types already have a subscription to this URL; nothing was created. */
  | { readonly type: 'conflict'; readonly taken: readonly TakenSubscription[] }
  | LimitReached
  | { readonly type: 'fleet_not_found' };

/**
 * Creates all or none, of one fleet, in one transaction with their outbox rows. A subscription to routes or stops turns them on for the
 * fleet, and the fleet is published before the subscription: once both are published, its events come.
 */
export async function createSubscriptions(
  database: EntityManager,
  drafts: readonly NewSubscription[],
  nowMs: number,
  limits: FleetLimits,
): Promise<CreateSubscriptionsResult> {
  const subscriptions = drafts.map((draft): WebhookSubscription => {
    return { ...draft, status: 'active', disabledReason: null, version: 1, createdAt: nowMs, updatedAt: nowMs };
  });
  const fleetId = subscriptions[0]?.fleetId ?? '';
  try {
    return await inFleet(database, fleetId, async (manager): Promise<CreateSubscriptionsResult> => {
      if ((await lockFleet(manager, fleetId)) === null) return { type: 'fleet_not_found' };
      const added = { subscriptions: subscriptions.length, deviceIds: deviceIdCount(subscriptions) };
      const reached = await subscriptionLimitReached(manager, fleetId, added, limits);
      if (reached !== null) return reached;
      const fleetIds = await turnRoutesOn(manager, subscriptions, nowMs);
      await insertAll(manager, subscriptions);
      const ids = await appendVersions(manager, subscriptions, nowMs);
      return { type: 'created', subscriptions, outboxIds: [...fleetIds, ...ids] };
    });
  } catch (error) {
    if (error instanceof SubscriptionsTaken) return { type: 'conflict', taken: error.taken };
    throw error;
  }
}

/** Rolls the creation back; never leaves this file. */
class SubscriptionsTaken extends Error {
  constructor(readonly taken: readonly TakenSubscription[]) {
    super('subscriptions exist');
  }
}

/** @returns the outbox ids of the fleet if it changed */
async function turnRoutesOn(
  manager: EntityManager,
  subscriptions: readonly WebhookSubscription[],
  nowMs: number,
): Promise<readonly string[]> {
  const withRoutes = subscriptions.find(({ eventType }) => isRouteEventType(eventType));
  if (withRoutes === undefined) return [];
  const { fleetId } = withRoutes;
  // Refused by no limit: there are no more of these changes than of those that turn routes off.
  const change = { routes: true };
  const result = await changeFleet(manager, { fleetId, change, nowMs, expected: null, limits: NO_LIMITS });
  return result.type === 'changed' ? result.outboxIds : [];
}

async function insertAll(manager: EntityManager, subscriptions: readonly WebhookSubscription[]): Promise<void> {
  // Sorted, so that two callers with the same types in another order cannot deadlock.
  const rows = [...subscriptions].sort((a, b) => (a.eventType < b.eventType ? -1 : 1));
  const insert = manager.createQueryBuilder().insert().into(WebhookSubscriptionEntity).values(rows).orIgnore();
  // Without updateEntity(false) TypeORM writes the n-th returned id into the n-th row given, though ignored rows return none.
  const inserted = await insert.returning('id').updateEntity(false).execute();
  const made = new Set((inserted.raw as { id: string }[]).map((row) => row.id));
  const refused = subscriptions.filter((subscription) => !made.has(subscription.id));
  if (refused.length > 0) throw new SubscriptionsTaken(await findTaken(manager, refused));
}

/** All subscriptions of one creation have the same URL and fleet. */
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
