import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { until } from '../../../../../test/support/until.js';
import type { AttemptRequest } from '../../single-attempt/attempt-runner.js';
import type { BacklogLimits } from '../backlogs/partition-backlogs.js';
import { never, ok, SenderHarness, unavailable } from '../testing/sender-harness.js';
import { anAttempt } from '../testing/sender-samples.js';

const DELIVERIES = 120;
const SUBSCRIPTIONS = ['a', 'b', 'c', 'd'];

/** What an endpoint does with a delivery: accept it at an attempt, or never; now and then it hangs until a process is killed. */
interface Fate {
  readonly acceptedAt: number;
  readonly hangs: boolean;
}

const fates = fc.array(fc.record({ acceptedAt: fc.integer({ min: 1, max: 6 }), hangs: fc.boolean() }), {
  minLength: DELIVERIES,
  maxLength: DELIVERIES,
});
/** How long one sender lives, how soon it takes a backlog for slow, and which of its subscriptions are paused halfway through. */
interface Life {
  readonly ms: number;
  readonly limits: BacklogLimits;
  readonly pauses: readonly boolean[];
}

const lives = fc.array(
  fc.record({
    ms: fc.integer({ min: 5, max: 80 }),
    limits: fc.record({
      perSubscription: fc.constantFrom(6, 6, 40),
      slowAfterMs: fc.constantFrom(500, 2_000, 120_000),
    }),
    pauses: fc.array(fc.boolean(), { minLength: SUBSCRIPTIONS.length, maxLength: SUBSCRIPTIONS.length }),
  }),
  { minLength: 3, maxLength: 6 },
);

/** Senders that follow each other, each taking over while the one before is amid its work; the last one lives on. */
async function run(plan: readonly Fate[], lives: readonly Life[]): Promise<SenderHarness> {
  const harness = await SenderHarness.create({ speed: 200 });
  const subscribe = (isPaused: (i: number) => boolean): void => {
    for (const [i, id] of SUBSCRIPTIONS.entries())
      harness.subscribe(id, { status: isPaused(i) ? 'paused' : 'active', strictOrder: id === 'd' });
  };
  subscribe(() => false);
  for (let n = 0; n < DELIVERIES; n++) harness.publish(n, SUBSCRIPTIONS[n % 4], `device-${String(n % 3)}`);
  const answer = (isLast: boolean) => (request: AttemptRequest) => {
    const fate = plan[Number(request.delivery.eventId.slice(6))];
    if (!fate || (fate.hangs && !isLast)) return never(request);
    return request.attempt >= fate.acceptedAt ? ok : unavailable;
  };
  for (const { ms, limits, pauses } of lives) {
    await harness.start(answer(false), { limits });
    await new Promise((resolve) => setTimeout(resolve, ms));
    subscribe((i) => pauses[i] ?? false);
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
  subscribe(() => false);
  await harness.start(answer(true), { limits: { perSubscription: 6 } });
  await until(async () => (await finals(harness)) >= DELIVERIES);
  await harness.stop();
  return harness;
}

async function finals(harness: SenderHarness): Promise<number> {
  return (await harness.attempts()).filter(({ outcome }) => outcome !== 'retrying').length;
}

describe('the sender over crashes, pauses and slow subscriptions at any point (R-16, R-25)', () => {
  it('leaves a log in which every delivery has each attempt once, in order, without gaps, and one end', async () => {
    await fc.assert(
      fc.asyncProperty(fates, lives, async (plan, lived) => {
        const harness = await run(plan, lived);
        const byDelivery = new Map<number, { attempt: number; outcome: string }[]>();
        for (const { deliveryOffset, attempt, outcome } of await harness.attempts())
          byDelivery.set(deliveryOffset, [...(byDelivery.get(deliveryOffset) ?? []), { attempt, outcome }]);
        expect(byDelivery.size).toBe(DELIVERIES);
        for (const [offset, attempts] of byDelivery) {
          const acceptedAt = plan[offset]?.acceptedAt ?? NaN;
          const expected = Math.min(acceptedAt, 5);
          expect(attempts.map(({ attempt }) => attempt)).toEqual(Array.from({ length: expected }, (_, i) => i + 1));
          expect(attempts.slice(0, -1).every(({ outcome }) => outcome === 'retrying')).toBe(true);
          expect(attempts.at(-1)?.outcome).toBe(acceptedAt <= 5 ? 'delivered' : 'failed');
        }
      }),
      { numRuns: 3 },
    );
  });
});

describe('a sender that takes over', () => {
  it('goes on in time with what a predecessor left, though the clock was set back by a day since (R-22, R-25)', async () => {
    const dayMs = 86_400_000;
    const fast = await SenderHarness.create({ speed: 10 });
    for (const id of ['subscription-1', 'left-alone']) fast.subscribe(id);
    fast.subscribe('suspended', { onOutage: 'hold' });
    const startedAt = fast.nowMs() + dayMs;
    fast.publish(1);
    fast.writeAttempt(anAttempt(1, { startedAt, nextDueAt: startedAt + 2_000 }));
    fast.publish(2, 'left-alone');
    const refused = { deliveryOffset: 1, startedAt, nextDueAt: startedAt + 9_000, retryAfterMs: 9_000 };
    fast.writeAttempt(anAttempt(2, { subscriptionId: 'left-alone', ...refused }));
    fast.publish(3, 'left-alone');
    fast.publish(4, 'suspended');
    const suspension = { failingSince: startedAt, suspendedAt: startedAt, failedDays: [], updatedAt: startedAt };
    fast.writeState({ subscriptionId: 'suspended', parkedFrom: null, foldFrom: null, ...suspension });
    const made = await fast.start(() => ok);
    await until(() => made.length === 4);
    await fast.stop();
    expect(new Set(made.map(({ delivery }) => delivery.eventId)).size).toBe(4);
  });
});

describe('two hand-overs while one subscription is slow and another was held (R-25)', () => {
  it('send nothing again that was accepted before the hold', async () => {
    const SLOW = 16;
    const harness = await SenderHarness.create({ speed: 10 });
    harness.subscribe('slow', { rateLimitPerSecond: 1 });
    harness.subscribe('held');
    for (let n = 0; n < SLOW; n++) harness.publish(n, 'slow');
    const acceptedAt = harness.publish(SLOW, 'held');
    const parkedFrom = harness.publish(SLOW + 1, 'held');
    const accepted = { outcome: 'delivered', decision: 'accepted', statusCode: 200, nextDueAt: null };
    harness.writeAttempt(anAttempt(SLOW, { subscriptionId: 'held', deliveryOffset: acceptedAt, ...accepted }));
    const nothingElse = {
      failingSince: null,
      suspendedAt: null,
      failedDays: [],
      updatedAt: Math.round(harness.nowMs()),
    };
    harness.writeState({ subscriptionId: 'held', parkedFrom, foldFrom: 1, ...nothingElse });
    // The attempts of the last seconds are folded in any case.
    const longAfter = harness.monotonicMs() + 20_000;
    await until(() => harness.monotonicMs() > longAfter);

    const first = await harness.start(() => ok);
    await until(async () => (await harness.states()).get('held') === null && (await harness.committedOffset()) > 0);
    const second = await harness.start(() => ok);
    harness.publish(SLOW + 2, 'held');
    const heldOf = (made: readonly AttemptRequest[]) =>
      made.filter(({ delivery }) => delivery.subscriptionId === 'held').map(({ delivery }) => delivery.eventId);
    await until(() => heldOf(second).includes(`event-${String(SLOW + 2)}`));
    await harness.stop();
    expect([heldOf(first), heldOf(second)]).toEqual([[`event-${String(SLOW + 1)}`], [`event-${String(SLOW + 2)}`]]);
  }, 30_000);
});
