import type { WebhookSubscription } from '@waypost/domain';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';

/** Finds subscriptions that the directory does not hold (yet). */
export interface KnownSubscriptions {
  /** undefined: deleted. */
  find(subscriptionId: string): Promise<WebhookSubscription | undefined>;
}

const MAX_DELETED = 10_000;

/**
 * A delivery is made for a subscription that is in the topic already: what is not there once the topic was read to its
 * end is gone for good, since no id is used twice. So the thousand deliveries that a deleted subscription leaves behind
 * ask the broker for that end once.
 */
export const createKnownSubscriptions = (
  directory: Pick<SubscriptionDirectory, 'get' | 'caughtUp'>,
): KnownSubscriptions => {
  const deleted = new Set<string>();

  const remember = (subscriptionId: string): void => {
    deleted.add(subscriptionId);
    for (const oldest of deleted) {
      if (deleted.size <= MAX_DELETED) return;
      deleted.delete(oldest);
    }
  };

  return {
    find: async (subscriptionId) => {
      if (deleted.has(subscriptionId)) return undefined;
      await directory.caughtUp();
      const found = directory.get(subscriptionId);
      if (found === undefined) remember(subscriptionId);
      return found;
    },
  };
};
