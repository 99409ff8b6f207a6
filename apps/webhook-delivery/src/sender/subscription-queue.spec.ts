import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { ok, SenderHarness } from './testing/sender-harness.js';

let harness: SenderHarness;

beforeEach(async () => {
  harness = await SenderHarness.create({ speed: 50 });
  harness.subscribe('free');
  harness.subscribe('paced', { rateLimitPerSecond: 2 });
});

afterEach(() => harness.stop());

describe('a rate limit', () => {
  it('spaces the attempts of its own subscription only', async () => {
    for (let n = 1; n <= 6; n++) harness.publish(n, 'paced');
    for (let n = 7; n <= 40; n++) harness.publish(n, 'free');
    const made = await harness.start(() => ok);
    await until(async () => (await harness.committedOffset()) === 40);
    const startsOf = (id: string): number[] =>
      made.filter(({ delivery }) => delivery.subscriptionId === id).map(({ startedAt }) => startedAt);
    const paced = startsOf('paced');
    // A real millisecond is 50 here, so the first start may be recorded late.
    for (const [i, at] of paced.entries()) expect(at - (paced[0] ?? 0)).toBeGreaterThanOrEqual((i - 1) * 500);
    const free = startsOf('free');
    expect(free.some((at, i) => i > 0 && at - (free[i - 1] ?? 0) < 500)).toBe(true);
  });
});
