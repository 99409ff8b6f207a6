import { describe, expect, it } from '@jest/globals';
import type { WebhookSubscription } from '@waypost/domain';
import { createLaneSettings, type LaneSettings } from './lane-settings.js';
import { aSubscription } from './testing/sender-samples.js';

function settingsOf(wishes: Partial<WebhookSubscription>): LaneSettings {
  const subscription = { ...aSubscription('subscription-1'), ...wishes };
  return createLaneSettings({ get: () => subscription })('subscription-1');
}

describe('the lane of a subscription', () => {
  it('has the rate that its owner has set, and waits for a Retry-After', () => {
    expect(settingsOf({ rateLimitPerSecond: 3 })).toMatchObject({ ratePerSecond: 3, heedsRetryAfter: true });
  });

  it('keeps nothing back that ends without a request because the subscription is disabled (R-16)', () => {
    const settings = settingsOf({ rateLimitPerSecond: 3, status: 'disabled' });
    expect(settings).toMatchObject({ ratePerSecond: null, heedsRetryAfter: false });
  });
});
