import type { WebhookSubscription } from './webhook-subscription.js';

/** Something that the owner of a subscription wants to know, as the schema `webhook.operations-value` has it. */
export interface OperationalEvent {
  /** UUID; the same when the same thing is told again after a crash. */
  readonly id: string;
  readonly subscriptionId: string;
  readonly fleetId: string;
  /** exhausted | suspended | probed | resumed | disabled */
  readonly type: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  /** In words, for people. */
  readonly reason: string;
  /** The delivery that it is about. */
  readonly eventId: string | null;
  /** Its offset in the same partition of webhook.deliveries. */
  readonly deliveryOffset: number | null;
  /** Of the last attempt or of the probe. */
  readonly statusCode: number | null;
  /** As in webhook.attempts. */
  readonly errorCode: string | null;
}

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
