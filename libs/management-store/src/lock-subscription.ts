import type { WebhookSubscription } from '@waypost/domain';
import type { EntityManager } from 'typeorm';
import type { SubscriptionRef } from './subscription-store.js';
import { WebhookSubscriptionEntity } from './webhook-subscription.entity.js';

/** Nobody else changes it before this transaction ends: versions, and their outbox rows, stay in order. */
export function lockSubscription(
  manager: EntityManager,
  { fleetId, id }: SubscriptionRef,
): Promise<WebhookSubscription | null> {
  return manager.findOne(WebhookSubscriptionEntity, { where: { fleetId, id }, lock: { mode: 'pessimistic_write' } });
}
