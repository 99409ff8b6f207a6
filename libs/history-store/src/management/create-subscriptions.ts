import type { WebhookSubscription } from '@waypost/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { FOREIGN_KEY_VIOLATION, sqlState } from './sql-state.js';
import type { NewSubscription } from './subscription.js';
import type { CreateSubscriptionsResult } from './subscription-store.js';
import { appendVersions, firstVersion } from './subscription-versions.js';
import { WebhookSubscriptionEntity } from './webhook-subscription.entity.js';

/** Makes all or none, in one transaction with their outbox rows. */
export async function createSubscriptions(
  dataSource: DataSource,
  drafts: readonly NewSubscription[],
  nowMs: number,
): Promise<CreateSubscriptionsResult> {
  const subscriptions = drafts.map((draft) => firstVersion(draft, nowMs));
  try {
    return await dataSource.transaction(async (manager): Promise<CreateSubscriptionsResult> => {
      await insertAll(manager, subscriptions);
      return { type: 'created', subscriptions, outboxIds: await appendVersions(manager, subscriptions, nowMs) };
    });
  } catch (error) {
    if (error instanceof SubscriptionsTaken) return { type: 'conflict', eventTypes: error.eventTypes };
    if (sqlState(error) === FOREIGN_KEY_VIOLATION) return { type: 'fleet_not_found' };
    throw error;
  }
}

/** Rolls the creation back; never leaves this file. */
class SubscriptionsTaken extends Error {
  constructor(readonly eventTypes: readonly string[]) {
    super('subscriptions exist');
  }
}

async function insertAll(manager: EntityManager, subscriptions: readonly WebhookSubscription[]): Promise<void> {
  // In one order whoever inserts: two callers with the same types in another order must not deadlock.
  const rows = [...subscriptions].sort((a, b) => (a.eventType < b.eventType ? -1 : 1));
  const insert = manager.createQueryBuilder().insert().into(WebhookSubscriptionEntity).values(rows).orIgnore();
  // Without updateEntity(false) the n-th returned id is written into the n-th row given, though ignored ones return none.
  const inserted = await insert.returning('id').updateEntity(false).execute();
  const made = new Set((inserted.raw as { id: string }[]).map((row) => row.id));
  const taken = subscriptions.filter((subscription) => !made.has(subscription.id));
  if (taken.length > 0) throw new SubscriptionsTaken(taken.map((subscription) => subscription.eventType));
}
