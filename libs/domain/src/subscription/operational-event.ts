import type { OperationalEvent } from '../records/operational-event.js';
import type { WebhookSubscription } from '../records/webhook-subscription.js';

/**
 * Whether a subscription is disabled because its deliveries only fail. Whoever changed it after that was found out knows
 * better, for example by switching it on again; the event may also be an old one that is read a second time.
 */
export function mayDisable(
  subscription: Pick<WebhookSubscription, 'status' | 'updatedAt'>,
  { occurredAt }: Pick<OperationalEvent, 'occurredAt'>,
): boolean {
  return subscription.status === 'active' && subscription.updatedAt <= occurredAt;
}
