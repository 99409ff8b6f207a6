import { describe, expect, it } from '@jest/globals';
import type { WebhookSubscription } from '@waypost/domain';
import { aSubscription } from '../testing/sender-samples.js';
import { createLaneSettings, type LaneSettings } from './lane-settings.js';

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

  it.each([
    ['a path of its own', 'https://receiver.example/second?for=trucks'],
    ['capitals', 'HTTPS://Receiver.Example/first'],
    ['the usual port', 'https://receiver.example:443/first'],
    ['a final dot, which no connection has', 'https://receiver.example./first'],
  ])('shares the origin of a URL that differs by %s (R-22)', (_what, url) => {
    expect(settingsOf({ url }).origin).toBe('https://receiver.example');
    expect(settingsOf({ url: 'https://receiver.example/first' }).origin).toBe('https://receiver.example');
  });

  it.each([
    ['host', 'https://other.example/first', 'https://other.example'],
    ['port', 'https://receiver.example:8443/first', 'https://receiver.example:8443'],
    ['scheme', 'http://receiver.example/first', 'http://receiver.example'],
  ])('has another origin with another %s', (_what, url, origin) => {
    expect(settingsOf({ url }).origin).toBe(origin);
  });
});
