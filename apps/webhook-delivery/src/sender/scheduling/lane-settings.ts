import { originOf } from '../../shares/reservations.js';
import type { DirectorySubscription, SubscriptionDirectory } from '../../subscriptions/subscription-directory.js';

export interface LaneSettings {
  readonly fleetId: string;
  readonly origin: string;
  /** Starts per second, retries included; null: unlimited. */
  readonly ratePerSecond: number | null;
  /** False: deliveries end without a request, so they need not wait. */
  readonly heedsRetryAfter: boolean;
}

const UNKNOWN_SUBSCRIPTION: LaneSettings = { fleetId: '', origin: '', ratePerSecond: null, heedsRetryAfter: true };

/** Computes the settings once per version of a subscription. */
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
      // A delivery that ends without a request costs the receiver nothing.
      const isSent = status !== 'disabled';
      const ratePerSecond = isSent ? rateLimitPerSecond : null;
      settings = { fleetId, origin: originOf(url), ratePerSecond, heedsRetryAfter: isSent };
      known.set(subscription, settings);
    }
    return settings;
  };
}
