import { originOf } from '../../shares/reservations.js';
import type { DirectorySubscription, SubscriptionDirectory } from '../../subscriptions/subscription-directory.js';

export interface LaneSettings {
  readonly fleetId: string;
  readonly origin: string;
  /** Starts per second, retries included; null: unlimited. */
  readonly ratePerSecond: number | null;
  /** False: what begins ends without a request, and waits for nothing. */
  readonly heedsRetryAfter: boolean;
}

const UNKNOWN_SUBSCRIPTION: LaneSettings = { fleetId: '', origin: '', ratePerSecond: null, heedsRetryAfter: true };

/** Once per version of the subscription. */
export function createLaneSettings(
  directory: Pick<SubscriptionDirectory, 'get'>,
): (subscriptionId: string) => LaneSettings {
  const known = new WeakMap<DirectorySubscription, LaneSettings>();
  return (subscriptionId) => {
    const subscription = directory.get(subscriptionId);
    if (!subscription) return UNKNOWN_SUBSCRIPTION;
    let settings = known.get(subscription);
    if (!settings) {
      const { fleetId, url, status, rateLimitPerSecond } = subscription;
      // What ends without a request costs the receiver nothing.
      const isSent = status !== 'disabled';
      const ratePerSecond = isSent ? rateLimitPerSecond : null;
      settings = { fleetId, origin: originOf(url), ratePerSecond, heedsRetryAfter: isSent };
      known.set(subscription, settings);
    }
    return settings;
  };
}
