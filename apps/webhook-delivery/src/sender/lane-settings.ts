import type { WebhookSubscription } from '@waypost/domain';
import type { SubscriptionDirectory } from '../subscriptions/subscription-directory.js';
import type { LaneSettings } from './turns.js';

const UNKNOWN: LaneSettings = { origin: '', ratePerSecond: null };

/** What subscriptions ask of their turns; worked out once for each version of a subscription. */
export const createLaneSettings = (
  directory: Pick<SubscriptionDirectory, 'get'>,
): ((subscriptionId: string) => LaneSettings) => {
  const known = new WeakMap<WebhookSubscription, LaneSettings>();
  return (subscriptionId) => {
    const subscription = directory.get(subscriptionId);
    if (!subscription) return UNKNOWN;
    let settings = known.get(subscription);
    if (!settings) {
      settings = { origin: originOf(subscription.url), ratePerSecond: subscription.rateLimitPerSecond };
      known.set(subscription, settings);
    }
    return settings;
  };
};

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);
