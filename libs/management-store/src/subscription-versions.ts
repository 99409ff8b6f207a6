import type { WebhookSubscription } from '@waypost/domain';
import type { EntityManager } from 'typeorm';
import { appendToOutbox } from './outbox.js';
import type { NewSubscription } from './subscription.js';
import { WebhookSubscriptionEntity } from './webhook-subscription.entity.js';

export function firstVersion(draft: NewSubscription, nowMs: number): WebhookSubscription {
  return { ...draft, status: 'active', disabledReason: null, version: 1, createdAt: nowMs, updatedAt: nowMs };
}

/** Saves what has become of a subscription as its next version. The caller holds its row. */
export async function saveNextVersion(
  manager: EntityManager,
  changed: WebhookSubscription,
  nowMs: number,
): Promise<{ subscription: WebhookSubscription; outboxIds: string[] }> {
  const subscription = { ...changed, version: changed.version + 1, updatedAt: nowMs };
  const { id, ...columns } = subscription;
  await manager.update(WebhookSubscriptionEntity, { id }, columns);
  return { subscription, outboxIds: await appendVersions(manager, [subscription], nowMs) };
}

/** Puts versions into the outbox, in the transaction that makes them. */
export function appendVersions(
  manager: EntityManager,
  subscriptions: readonly WebhookSubscription[],
  nowMs: number,
): Promise<string[]> {
  const entries = subscriptions.map(
    (subscription) => ({ kind: 'webhook-subscription', key: subscription.id, value: subscription }) as const,
  );
  return appendToOutbox(manager, entries, nowMs);
}
