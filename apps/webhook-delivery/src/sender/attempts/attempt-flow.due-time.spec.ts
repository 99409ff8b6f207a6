import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';
import { ManualClock } from '../testing/manual-clock.js';
import { ok, SenderHarness, unavailable } from '../testing/sender-harness.js';
import { anAttempt } from '../testing/sender-samples.js';

const STEP_MS = 20;
const MINUTE_MS = 60_000;

let clock: ManualClock;
let harness: SenderHarness;

beforeEach(async () => {
  clock = new ManualClock();
  harness = await SenderHarness.create({ clock });
  harness.subscribe('subscription-1');
});

afterEach(() => harness.stop());

function passUntil(isReached: () => boolean | Promise<boolean>): Promise<void> {
  return clock.passUntil(isReached, { stepMs: STEP_MS });
}

const logged = async (count: number): Promise<boolean> => (await harness.attempts()).length === count;

describe('a retry (R-22)', () => {
  it('starts in the millisecond in which it is due, when nothing holds the process up', async () => {
    for (const n of [1, 2, 3]) harness.publish(n);
    await harness.start(() => unavailable);
    await passUntil(() => logged(15));
    const retries = (await harness.attempts()).filter(({ attempt }) => attempt > 1);
    expect(retries.map(({ startedAt, dueAt }) => startedAt - dueAt)).toEqual(Array(12).fill(0));
  });

  it('is not held up by other work when it is due at once and waits until the 401 is in the log (R-23)', async () => {
    harness.publish(1);
    await harness.start(({ attempt }) => (attempt === 1 ? { type: 'response', statusCode: 401 } : ok), {
      auth: 'bearer',
    });
    await passUntil(() => logged(2));
    const [first, retry] = await harness.attempts();
    expect(retry?.dueAt).toBe((first?.startedAt ?? NaN) + (first?.durationMs ?? NaN));
    expect((retry?.startedAt ?? NaN) - (retry?.dueAt ?? NaN)).toBeGreaterThanOrEqual(STEP_MS);
    expect(harness.retryLatenessMs).toEqual([0]);
  });

  it('is due when it begins if it came due during a pause and is read from the log again: it waits for a reservation (R-16, R-26)', async () => {
    for (const n of [1, 2, 3]) harness.publish(n);
    let isUp = false;
    await harness.start(() => (isUp ? ok : unavailable));
    await passUntil(() => logged(3));
    harness.subscribe('subscription-1', { status: 'paused' });
    await until(() => harness.pending === 1);
    clock.passMs(MINUTE_MS);
    isUp = true;
    harness.subscribe('subscription-1', { status: 'active' });
    clock.passMs(STEP_MS); // while the log is read
    await passUntil(() => logged(6));
    const late = (await harness.attempts()).filter(({ startedAt, dueAt }) => startedAt - dueAt >= STEP_MS);
    expect(late).toEqual([]);
    expect(harness.retryLatenessMs).toEqual([]);
  });

  it('is not held up by other work when it came due while no process had its partition (R-25)', async () => {
    const nextDueAt = harness.nowMs() - MINUTE_MS;
    harness.publish(1);
    harness.writeAttempt(anAttempt(1, { nextDueAt }));
    await harness.start(() => ok);
    await passUntil(() => logged(2));
    expect((await harness.attempts())[1]?.dueAt).toBe(nextDueAt);
    expect(harness.retryLatenessMs).toEqual([0]);
  });
});
