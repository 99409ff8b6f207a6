import type { WebhookDelivery, WebhookSubscription } from '@waypost/domain';
import type { EntityManager } from 'typeorm';
import { lockSubscription } from './lock-subscription.js';
import { appendToOutbox } from './outbox.js';
import type { SendTestResult, SubscriptionRef } from './subscription-store.js';

export interface TestOrder {
  readonly ref: SubscriptionRef;
  readonly make: (subscription: WebhookSubscription) => WebhookDelivery;
  readonly nowMs: number;
}

/** Puts a delivery into the outbox: durable when this resolves, and in the log once the outbox is published. */
export function sendTest(database: EntityManager, { ref, make, nowMs }: TestOrder): Promise<SendTestResult> {
  return database.transaction(async (manager): Promise<SendTestResult> => {
    const subscription = await lockSubscription(manager, ref);
    if (subscription === null) return { type: 'not_found' };
    if (subscription.status !== 'active') return { type: 'not_active', subscription };
    const delivery = make(subscription);
    const entry = { kind: 'webhook-delivery', key: subscription.id, value: delivery } as const;
    return { type: 'queued', delivery, outboxIds: await appendToOutbox(manager, [entry], nowMs) };
  });
}
