import { describe, expect, it } from '@jest/globals';
import type { WebhookSubscription } from '@waypost/domain';
import { createLaneSettings } from './lane-settings.js';
import { aSubscription } from './testing/sender-samples.js';

function rateOf(wishes: Partial<WebhookSubscription>): number | null {
  const subscription = { ...aSubscription('subscription-1'), ...wishes };
  return createLaneSettings({ get: () => subscription })('subscription-1').ratePerSecond;
}

describe('the rate of a subscription', () => {
  it('is the limit that its owner has set', () => {
    expect(rateOf({ rateLimitPerSecond: 3 })).toBe(3);
  });

  it('does not keep back what ends without a request because the subscription is disabled (R-16)', () => {
    expect(rateOf({ rateLimitPerSecond: 3, status: 'disabled' })).toBeNull();
  });
});
