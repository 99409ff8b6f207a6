import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import type { AttemptRequest } from '../single-attempt/attempt-runner.js';
import { type Answer, never, ok, SenderHarness, unavailable } from './testing/sender-harness.js';
import { anAttempt } from './testing/sender-samples.js';
import { succeed } from './testing/succeed.js';

const SPEED = 300;
const SLOW = 'slow';
const OF_ONE_DEVICE = 30;
/** A little longer than what a backlog may hold the position back for. */
const LONG_MS = 150_000;
/** Shorter than that, and longer than its record stays as it is and than the longest wait. */
const SHORT_MS = 90_000;

let harness: SenderHarness;
let published = 0;

beforeEach(async () => {
  harness = await SenderHarness.create({ speed: SPEED });
  harness.subscribe(SLOW, { strictOrder: true });
  harness.subscribe('other');
  published = 0;
});

afterEach(() => harness.stop());

const isSlow = ({ delivery }: Pick<AttemptRequest, 'delivery'>): boolean => delivery.subscriptionId === SLOW;
const refusing: Answer = (request) => (isSlow(request) ? unavailable : ok);

async function attemptsOfOther(): Promise<number> {
  return (await harness.attempts()).filter(({ subscriptionId }) => subscriptionId === 'other').length;
}

/** Others get theirs meanwhile. @returns how many attempts the log has then */
async function passes(ms: number): Promise<number> {
  for (const endMs = harness.monotonicMs() + ms; harness.monotonicMs() < endMs;) {
    const before = await attemptsOfOther();
    harness.publish(++published, 'other');
    await until(async () => (await attemptsOfOther()) > before);
  }
  return (await harness.attempts()).length;
}

describe('a subscription whose few deliveries take hours, one after the other (R-25, R-26, R-28)', () => {
  it('holds back neither the committed position nor the attempts to fold, and its successors send all once, in order', async () => {
    for (let n = 1; n <= OF_ONE_DEVICE; n++) harness.publish(++published, SLOW, 'device');
    await harness.start((request) => (isSlow(request) && request.attempt > 1 ? never(request) : refusing(request)));
    const early = await passes(LONG_MS);
    await passes(LONG_MS);
    await until(async () => (await harness.committedOffset()) > OF_ONE_DEVICE);
    expect(await harness.committedFoldFrom()).toBeGreaterThan(1);
    const second = await succeed(harness, refusing);
    expect(second.foldsFrom).toBeGreaterThan(early);
    const later = (await harness.attempts()).length;
    await passes(SHORT_MS);
    const { made, foldsFrom } = await succeed(harness, () => ok);
    expect(foldsFrom).toBeGreaterThan(later);
    const left = OF_ONE_DEVICE - (await ends()).length;
    await until(() => made.filter(isSlow).length === left);
    await until(async () => (await harness.states()).get(SLOW) === null);

    const offsets = Array.from({ length: OF_ONE_DEVICE }, (_, offset) => offset);
    expect(await ends()).toEqual(offsets);
    const attempts = (await harness.attempts()).filter(({ subscriptionId }) => subscriptionId === SLOW);
    for (const offset of offsets) {
      const its = attempts.filter(({ deliveryOffset }) => deliveryOffset === offset);
      expect(its.map(({ attempt }) => attempt)).toEqual(its.map((_, i) => i + 1));
    }
    // Strict: no attempt of one before the end of the one before.
    const inOrder = attempts.map(({ deliveryOffset }) => deliveryOffset);
    expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
  });

  it('has its progress in its record also where a predecessor had finished the newest of them', async () => {
    for (const n of [1, 2]) harness.publish(++published, SLOW, `device-${String(n)}`);
    const accepted = { outcome: 'delivered', decision: 'accepted', statusCode: 200, nextDueAt: null };
    harness.writeAttempt(anAttempt(2, { subscriptionId: SLOW, ...accepted }));
    const early = (await harness.attempts()).length;
    await harness.start((request) => (isSlow(request) ? never(request) : ok));
    await passes(LONG_MS);
    await passes(LONG_MS);
    expect((await harness.states()).get(SLOW)?.known).toMatchObject({ upTo: 1, unfinished: [{ offset: 0 }] });
    const { made, foldsFrom } = await succeed(harness, () => ok);
    expect(foldsFrom).toBeGreaterThan(early);
    await until(() => made.some(isSlow));
    await until(async () => (await harness.states()).get(SLOW) === null);
    expect(made.filter(isSlow).map(({ delivery }) => delivery.eventId)).toEqual(['event-1']);
  });
});

/** The offsets of those that are over, as they ended. */
async function ends(): Promise<number[]> {
  const attempts = await harness.attempts();
  return attempts
    .filter(({ subscriptionId, outcome }) => subscriptionId === SLOW && outcome !== 'retrying')
    .map(({ deliveryOffset }) => deliveryOffset);
}
