import { expect, it } from '@jest/globals';
import { flushed } from '../../../../test/support/until.js';
import { ManualClock } from './testing/manual-clock.js';
import { SenderHarness, unavailable } from './testing/sender-harness.js';

const STEP_MS = 20;
const MINUTE_MS = 60_000;

it('each retry starts in the millisecond in which it is due, when nothing holds the process up (R-22)', async () => {
  const clock = new ManualClock();
  const harness = await SenderHarness.create({ clock });
  harness.subscribe('subscription-1');
  for (const n of [1, 2, 3]) harness.publish(n);
  await harness.start(() => unavailable);
  for (let passedMs = 0; passedMs < MINUTE_MS && (await harness.attempts()).length < 15; passedMs += STEP_MS) {
    clock.passMs(STEP_MS);
    await flushed();
  }
  await harness.stop();
  const retries = (await harness.attempts()).filter(({ attempt }) => attempt > 1);
  expect(retries.map(({ startedAt, dueAt }) => startedAt - dueAt)).toEqual(Array(12).fill(0));
});
