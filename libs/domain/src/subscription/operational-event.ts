import type { OperationalEvent } from '../records/operational-event.js';
import type { WebhookSubscription } from '../records/webhook-subscription.js';

/** A later change by the owner wins, and an old event may be read a second time. */
export function mayDisable(
  subscription: Pick<WebhookSubscription, 'status' | 'updatedAt'>,
  { occurredAt }: Pick<OperationalEvent, 'occurredAt'>,
): boolean {
  return subscription.status === 'active' && subscription.updatedAt <= occurredAt;
}
