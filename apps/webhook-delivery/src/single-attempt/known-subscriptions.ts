import { NewestMap } from '@waypost/egress';
import type { DirectorySubscription, SubscriptionDirectory } from '../subscriptions/subscription-directory.js';

/** Finds subscriptions that the directory does not contain (yet). */
export interface KnownSubscriptions {
  /** undefined: deleted, or known only in a version that cannot be read. */
  find(subscriptionId: string): Promise<DirectorySubscription | undefined>;
}

const MAX_DELETED = 10_000;

/**
 * The subscription of a delivery was in the topic when the delivery was made. If it is missing after the topic is read
 * to its end, it was deleted, and ids are never reused. The result is remembered, so that a thousand deliveries of a
 * deleted subscription ask the broker for that end only once.
 */
export function createKnownSubscriptions(
  directory: Pick<SubscriptionDirectory, 'get' | 'caughtUp'>,
): KnownSubscriptions {
  const deleted = new NewestMap<string, true>(MAX_DELETED);
  return {
    find: async (subscriptionId) => {
      if (deleted.has(subscriptionId)) return undefined;
      await directory.caughtUp();
      const found = directory.get(subscriptionId);
      if (found === undefined) deleted.set(subscriptionId, true);
      return found;
    },
  };
}
