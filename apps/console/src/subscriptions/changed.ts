import type { Subscription, SubscriptionWithHealth } from '@waypost/client';

/** As it was changed, with the health that was read before: the answer to a change has none. */
export function changed(
  before: SubscriptionWithHealth | undefined,
  subscription: Subscription,
): SubscriptionWithHealth | undefined {
  return before && { ...subscription, health: before.health };
}
