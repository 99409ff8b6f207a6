import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/manual-clock.js';
import { type Answer, ok, SenderHarness } from '../testing/sender-harness.js';
import { anAttempt } from '../testing/sender-samples.js';

const STEP_MS = 250;
const TAKES_MS = 3_000;
const WAIT_MS = 10_000;

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

/** Refuses an attempt of the first delivery after three seconds. */
function refusing(refused: number): Answer {
  return async ({ delivery, attempt }) => {
    if (delivery.eventId !== 'event-1' || attempt !== refused) return ok;
    await new Promise<void>((resolve) => {
      clock.after(TAKES_MS, resolve);
    });
    return { type: 'response', statusCode: 429, retryAfter: String(WAIT_MS / 1_000) };
  };
}

/** @returns the end of the refused attempt in the log */
async function refusedAt(attempt: number): Promise<number> {
  await passUntil(async () => (await harness.attempts()).at(-1)?.attempt === attempt);
  const refused = (await harness.attempts()).at(-1);
  expect(refused).toMatchObject({ outcome: attempt === 5 ? 'failed' : 'retrying', retryAfterMs: WAIT_MS });
  expect(refused?.durationMs).toBeGreaterThanOrEqual(TAKES_MS);
  return (refused?.startedAt ?? NaN) + (refused?.durationMs ?? NaN);
}

/** When the second delivery, which comes only now, has its first attempt. */
async function nextStart(): Promise<number> {
  harness.publish(2);
  const logged = async () => (await harness.attempts()).find(({ eventId }) => eventId === 'event-2');
  await passUntil(async () => (await logged()) !== undefined);
  return (await logged())?.startedAt ?? NaN;
}

describe.each([
  ['will be tried again', 1],
  ['has failed for good', 5],
])('a Retry-After for a delivery that %s (R-22)', (_what, attempt) => {
  beforeEach(() => {
    harness.publish(1);
    if (attempt > 1) harness.writeAttempt(anAttempt(1, { attempt: attempt - 1 }));
  });

  it('holds first attempts back from the end of the attempt', async () => {
    await harness.start(refusing(attempt));
    const endedAt = await refusedAt(attempt);
    expect((await nextStart()) - endedAt).toBeGreaterThanOrEqual(WAIT_MS);
  });

  it('holds them back as long after a restart', async () => {
    await harness.start(refusing(attempt));
    const endedAt = await refusedAt(attempt);
    await harness.start(() => ok);
    expect((await nextStart()) - endedAt).toBeGreaterThanOrEqual(WAIT_MS);
  });
});
