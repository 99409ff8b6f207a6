import { NewestMap } from '@waypost/egress';
import type { DirectorySubscription, SubscriptionDirectory } from '../subscriptions/subscription-directory.js';

/** Finds subscriptions that the directory does not contain (yet). */
export interface KnownSubscriptions {
  /** undefined: deleted, or known only by a version that cannot be read. */
  find(subscriptionId: string): Promise<DirectorySubscription | undefined>;
}

const MAX_DELETED = 10_000;

/**
 * The subscription of a delivery was in the topic when the delivery was made: if it is missing once the topic is read to
 * its end, it was deleted, and ids are never reused. The result is remembered, so that a thousand deliveries of a deleted
 * subscription request that end from the broker only once.
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
