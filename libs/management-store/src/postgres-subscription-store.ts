import type { WebhookSubscription } from '@waypost/domain';
import type { EntityManager } from 'typeorm';
import { deleteSubscription, rotateSubscriptionSecret, updateSubscription } from './change-subscription.js';
import { createSubscriptions } from './create-subscriptions.js';
import { disableSubscription } from './disable-subscription.js';
import { sendTest } from './send-test.js';
import type { SubscriptionQuery, SubscriptionRef, SubscriptionStore } from './subscription-store.js';
import { WebhookSubscriptionEntity } from './webhook-subscription.entity.js';

export function createSubscriptionStore(database: EntityManager): SubscriptionStore {
  return {
    create: (drafts, nowMs) => createSubscriptions(database, drafts, nowMs),
    list: (query) => listSubscriptions(database, query),
    get: (ref) => findSubscription(database, ref),
    update: (ref, change, nowMs, expected = null) => updateSubscription(database, { ref, change, nowMs, expected }),
    delete: (ref, nowMs, expected = null) => deleteSubscription(database, ref, nowMs, expected),
    rotateSecret: (ref, rotation, expected = null) => rotateSubscriptionSecret(database, ref, rotation, expected),
    disable: (event, nowMs) => disableSubscription(database, event, nowMs),
    sendTest: (ref, make, nowMs) => sendTest(database, { ref, make, nowMs }),
  };
}

function listSubscriptions(
  manager: EntityManager,
  { fleetId, limit, after }: SubscriptionQuery,
): Promise<WebhookSubscription[]> {
  const select = manager
    .createQueryBuilder(WebhookSubscriptionEntity, 's')
    .where('s.fleet_id = :fleetId', { fleetId })
    .orderBy('s.created_at')
    .addOrderBy('s.id')
    .limit(limit);
  if (after !== null) {
    const { createdAt, id } = after;
    select.andWhere('(s.created_at, s.id) > (:createdAt, :id)', { createdAt: new Date(createdAt), id });
  }
  return select.getMany();
}

function findSubscription(
  manager: EntityManager,
  { fleetId, id }: SubscriptionRef,
): Promise<WebhookSubscription | null> {
  return manager.findOneBy(WebhookSubscriptionEntity, { fleetId, id });
}
