import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptResult, SubscriptionState } from '@waypost/domain';
import { until } from '../../../../../test/support/until.js';
import { dayMs, minuteMs, openOutageHarness, published } from '../testing/outage-harness.js';
import { ok, type SenderHarness, unavailable } from '../testing/sender-harness.js';

type FailedDay = SubscriptionState['failedDays'][number];

/** Time passes 300 times as fast: on a busy machine an attempt would look slow, and the position would pass its delivery. */
const limits = { slowAfterMs: Infinity };

let harness: SenderHarness;
let answer: AttemptResult;

beforeEach(async () => {
  harness = await openOutageHarness();
  answer = unavailable;
});

afterEach(() => harness.stop());

/** As many as it takes, but for one. */
function nineteenFailures(): FailedDay[] {
  const today = Math.floor(harness.nowMs() / dayMs);
  return [3, 2, 1].map((daysAgo) => ({ day: today - daysAgo, failed: daysAgo === 1 ? 7 : 6 }));
}

describe('a subscription with only failures for 7 days (R-29)', () => {
  it('is reported as disabled, with the reason, and while it fails again under one id, at most every 2 minutes', async () => {
    harness.leaveFailing(7 * dayMs, 'letting-fail', nineteenFailures());
    await harness.start(() => answer, { limits });
    const reports = async () => (await harness.operations()).filter(({ type }) => type === 'disabled');
    let events = 0;
    await until(async () => {
      harness.publish(++events, 'letting-fail');
      return (await reports()).length >= 3;
    });
    const [first, ...others] = await reports();
    expect(first).toMatchObject({ subscriptionId: 'letting-fail', reason: 'only failures for 7 days' });
    let lastAt = first?.occurredAt ?? 0;
    for (const { id, occurredAt } of others) {
      expect(id).toBe(first?.id);
      expect(occurredAt - lastAt).toBeGreaterThanOrEqual(2 * minuteMs - 1);
      lastAt = occurredAt;
    }
  });

  it('is not disabled before 20 deliveries have failed, on at least 3 of these days', async () => {
    const [first, second] = nineteenFailures();
    if (first && second) harness.leaveFailing(7 * dayMs, 'letting-fail', [first, second]);
    for (let n = 1; n <= 5; n++) harness.publish(n, 'letting-fail');
    await harness.start(() => answer, { limits });
    await until(async () => (await harness.committedOffset()) === 5);
    await harness.stop();
    expect(await published(harness)).toEqual(Array.from({ length: 5 }, () => 'exhausted'));
  });

  it('counts deliveries that were refused for good like those that used up their attempts', async () => {
    answer = { type: 'response', statusCode: 410 };
    harness.leaveFailing(7 * dayMs, 'letting-fail', nineteenFailures());
    harness.publish(1, 'letting-fail');
    await harness.start(() => answer, { limits });
    await until(async () => (await published(harness)).length > 0);
    expect(await published(harness)).toEqual(['disabled']);
  });

  it('remembers across a restart how many deliveries failed on which days', async () => {
    const known = nineteenFailures();
    harness.leaveFailing(dayMs, 'letting-fail', known);
    harness.publish(1, 'letting-fail');
    await harness.start(() => answer, { limits });
    const day = Math.floor(harness.nowMs() / dayMs);
    const stored = async () => (await harness.states()).get('letting-fail')?.failedDays;
    await until(async () => (await stored())?.length === 4);
    expect(await stored()).toEqual([...known, { day, failed: 1 }]);
    await harness.start(() => answer, { limits });
    harness.publish(2, 'letting-fail');
    await until(async () => (await stored())?.at(-1)?.failed === 2);
    expect(await stored()).toEqual([...known, { day, failed: 2 }]);
  });

  it('is reported under the same id after a restart, so that it counts once', async () => {
    harness.leaveFailing(7 * dayMs, 'letting-fail', nineteenFailures());
    harness.publish(1, 'letting-fail');
    await harness.start(() => answer, { limits });
    const disabled = async () => (await harness.operations()).filter(({ type }) => type === 'disabled');
    await until(async () => (await disabled()).length === 1);
    await harness.start(() => answer, { limits });
    harness.publish(2, 'letting-fail');
    await until(async () => (await disabled()).length === 2);
    expect(new Set((await disabled()).map(({ id }) => id)).size).toBe(1);
  });

  it('is counted from its last change: enabled again, it gets another 7 days', async () => {
    harness.leaveFailing(7 * dayMs, 'letting-fail', nineteenFailures());
    harness.subscribe('letting-fail', { updatedAt: Math.round(harness.nowMs()) });
    harness.publish(1, 'letting-fail');
    await harness.start(() => answer, { limits });
    await until(async () => (await harness.committedOffset()) === 1);
    await harness.stop();
    expect(await published(harness)).toEqual(['exhausted']);
  });

  it('is not disabled when an attempt was accepted in between', async () => {
    harness.leaveFailing(7 * dayMs - 1_000, 'letting-fail', nineteenFailures());
    harness.publish(1, 'letting-fail');
    let attempts = 0;
    await harness.start(() => (++attempts === 1 ? ok : unavailable), { limits });
    harness.publish(2, 'letting-fail');
    await until(async () => (await harness.committedOffset()) === 2);
    await harness.stop();
    expect(await published(harness)).toEqual(['exhausted']);
  });
});
