import type { WebhookSubscription } from '@waypost/domain';
import type { DataSource, EntityManager } from 'typeorm';
import { deleteSubscription, rotateSubscriptionSecret, updateSubscription } from './change-subscription.js';
import { createSubscriptions } from './create-subscriptions.js';
import { disableSubscription } from './disable-subscription.js';
import { sendTest } from './send-test.js';
import type { SubscriptionQuery, SubscriptionRef, SubscriptionStore } from './subscription-store.js';
import { WebhookSubscriptionEntity } from './webhook-subscription.entity.js';

export function createSubscriptionStore(dataSource: DataSource): SubscriptionStore {
  return {
    create: (drafts, nowMs) => createSubscriptions(dataSource, drafts, nowMs),
    list: (query) => listSubscriptions(dataSource.manager, query),
    get: (ref) => findSubscription(dataSource.manager, ref),
    update: (ref, change, nowMs) => updateSubscription(dataSource, { ref, change, nowMs }),
    delete: (ref, nowMs) => deleteSubscription(dataSource, ref, nowMs),
    rotateSecret: (ref, rotation) => rotateSubscriptionSecret(dataSource, ref, rotation),
    disable: (event, nowMs) => disableSubscription(dataSource, event, nowMs),
    sendTest: (ref, make, nowMs) => sendTest(dataSource, { ref, make, nowMs }),
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
