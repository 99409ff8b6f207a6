import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptResult, WebhookSubscription } from '@waypost/domain';
import { until } from '../../../../test/support/until.js';
import { ok, SenderHarness } from './testing/sender-harness.js';

let harness: SenderHarness;

beforeEach(async () => {
  harness = await SenderHarness.create();
});

afterEach(() => harness.stop());

/** As the runner does, without a request. */
const refused: AttemptResult = { type: 'error', errorCode: 'subscription_disabled', detail: '' };
const askedToWait: AttemptResult = { type: 'response', statusCode: 429, retryAfter: '15' };

describe('deliveries that wait for the rate of their subscription (R-16)', () => {
  it.each<[string, Partial<WebhookSubscription>]>([
    ['has no rate any more', { rateLimitPerSecond: null }],
    ['is disabled', { rateLimitPerSecond: 1, status: 'disabled' }],
  ])('begin at the moment when it %s', async (_, wishes) => {
    harness.subscribe('subscription-1', { rateLimitPerSecond: 1 });
    for (let n = 1; n <= 20; n++) harness.publish(n);
    const made = await harness.start(() => ok, { slots: { perSubscription: 64 } });
    await until(() => made.length > 0 && harness.pending === 20 - made.length);
    const before = made.length;
    harness.subscribe('subscription-1', wishes);
    expect(before).toBeLessThan(20);
    expect(made).toHaveLength(20);
  });

  it('begin at the moment when it is deleted', async () => {
    harness.subscribe('subscription-1', { rateLimitPerSecond: 1 });
    for (let n = 1; n <= 20; n++) harness.publish(n);
    const made = await harness.start(() => ok, { slots: { perSubscription: 64 } });
    await until(() => made.length > 0 && harness.pending === 20 - made.length);
    harness.unsubscribe('subscription-1');
    expect(made).toHaveLength(20);
  });
});

describe('deliveries that wait because their receiver has asked for it (R-22)', () => {
  it('end at the moment when their subscription is disabled: nothing is sent (R-16)', async () => {
    harness.subscribe('subscription-1');
    for (let n = 1; n <= 5; n++) harness.publish(n);
    let answer: AttemptResult = askedToWait;
    const made = await harness.start(() => answer, { slots: { perSubscription: 1 } });
    await until(async () => (await harness.attempts()).length === 1);
    expect(made).toHaveLength(1);
    answer = refused;
    harness.subscribe('subscription-1', { status: 'disabled' });
    expect(made).toHaveLength(2);
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'failed').length >= 4);
  });
});
