import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { holdsFor, until } from '../../../../test/support/until.js';
import type { AttemptRun } from '../single-attempt/attempt-runner.js';
import { never, ok, SenderHarness, unavailable } from './testing/sender-harness.js';
import { aDelivery, anAttempt, aSubscription } from './testing/sender-samples.js';

let harness: SenderHarness;

beforeEach(async () => {
  harness = await SenderHarness.create();
  harness.subscribe('subscription-1');
});

afterEach(() => harness.stop());

describe('the sender', () => {
  it('logs each attempt with its outcome, the first with the exact body, and moves the position past finished deliveries', async () => {
    harness.publish(1);
    harness.publish(2);
    await harness.start(() => ok);
    await until(async () => (await harness.committedOffset()) === 2);
    const attempts = await harness.attempts();
    expect(attempts.map(({ eventId, attempt, outcome, body }) => [eventId, attempt, outcome, body])).toEqual([
      ['event-1', 1, 'delivered', '{"n":1}'],
      ['event-2', 1, 'delivered', '{"n":2}'],
    ]);
  });

  it('attempts each delivery in the trace of its record, also when it had waited in the log (R-46)', async () => {
    const traceOf = (n: number) => `00-${n.toString(16).padStart(32, '0')}-00f067aa0ba902b7-01`;
    const eventIdOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    const numbers = Array.from({ length: 30 }, (_, n) => n + 1);
    for (const n of numbers) {
      const delivery = {
        ...aDelivery(n),
        subscriptionId: 'subscription-1',
        deviceId: 'd',
        eventId: eventIdOf(n),
      };
      const headers = [
        { key: 'traceparent', value: Buffer.from(traceOf(n)) },
        { key: 'tracestate', value: Buffer.from(`event=${eventIdOf(n)}`) },
      ];
      harness.append(harness.codecs.webhookDeliveries.encode(delivery), headers);
    }
    const limits = { perSubscription: 4, bytes: Infinity };
    const made = await harness.start(() => ok, { limits });
    await until(() => made.length === numbers.length);
    const traceIds = made.map(({ delivery, traceparent }) => [delivery.eventId, traceparent.slice(0, 35)]);
    expect(traceIds.sort()).toEqual(numbers.map((n) => [eventIdOf(n), traceOf(n).slice(0, 35)]));
    expect(new Set(made.map(({ traceparent }) => traceparent)).size).toBe(numbers.length);
    expect(made.map(({ tracestate }) => tracestate)).toEqual(made.map(({ delivery }) => `event=${delivery.eventId}`));
  });

  it('logs when a delivery was made, first tried and due, and how long each attempt took (R-24)', async () => {
    const fast = await SenderHarness.create({ speed: 100 });
    fast.subscribe('subscription-1');
    fast.publish(1);
    await fast.start(({ attempt }) => (attempt === 1 ? unavailable : ok));
    await until(async () => (await fast.attempts()).length === 2);
    const [first, second] = await fast.attempts();
    await fast.stop();
    const { createdAt, body, ...delivery } = aDelivery(1);
    const common = {
      ...delivery,
      deliveryOffset: 0,
      deliveryCreatedAt: createdAt,
      errorCode: null,
      errorDetail: null,
      responseBody: null,
    };
    const endedAt = (first?.startedAt ?? NaN) + (first?.durationMs ?? NaN);
    expect(first).toMatchObject({ ...common, attempt: 1, firstAttemptAt: first?.startedAt, statusCode: 503, body });
    expect(first?.nextDueAt).toBe(endedAt + 1_600);
    expect(second).toMatchObject({ ...common, attempt: 2, firstAttemptAt: first?.startedAt, statusCode: 200 });
    expect(second).toMatchObject({ dueAt: first?.nextDueAt, nextDueAt: null, body: null });
  });

  it('waits for a random time within a fifth of the schedule, drawn for each attempt (R-22)', async () => {
    const draws = [0, 0.25, 0.75, 0.999_999];
    for (const n of [1, 2, 3, 4]) harness.publish(n);
    await harness.start(() => unavailable, { random: () => draws.shift() ?? NaN });
    await until(async () => (await harness.attempts()).length === 4);
    const waits = (await harness.attempts()).map(({ nextDueAt, startedAt, durationMs }) =>
      nextDueAt === null ? NaN : nextDueAt - startedAt - durationMs,
    );
    expect(waits.sort((a, b) => a - b)).toEqual([1_600, 1_800, 2_200, 2_400]);
  });

  it('discards the token after each 401 and tries at once after the first only, also after a restart (R-23)', async () => {
    const fast = await SenderHarness.create({ speed: 100 });
    fast.subscribe('subscription-1');
    fast.publish(1);
    fast.writeAttempt(anAttempt(1, { statusCode: 401, decision: 'unauthorized' }));
    let discarded = 0;
    const result = { type: 'response', statusCode: 401 } as const;
    const run = {
      type: 'ended',
      url: 'https://a.example/',
      auth: 'bearer',
      result,
      discardToken: () => (discarded += 1),
    };
    await fast.start(undefined, { runner: { run: () => Promise.resolve(run as AttemptRun) } });
    await until(async () => (await fast.attempts()).length === 5);
    const [, ...attempts] = await fast.attempts();
    await fast.stop();
    const waits = attempts.map((one) => (one.nextDueAt ?? NaN) - one.startedAt - one.durationMs);
    expect(waits).toEqual([3_200, 6_400, 12_000, NaN]);
    expect(discarded).toBe(4);
  });

  it('says how late each retry starts, so that other work can give way (R-22)', async () => {
    const fast = await SenderHarness.create({ speed: 20 });
    fast.subscribe('subscription-1');
    fast.publish(1);
    let isHeldUp = false;
    await fast.start(({ attempt }) => {
      if (attempt > 1) return ok;
      // The event loop does nothing else until well after the retry is due.
      void until(async () => (await fast.attempts()).length === 1).then(() => {
        isHeldUp = true;
        for (const endMs = fast.monotonicMs() + 3_000; fast.monotonicMs() < endMs;);
      });
      return unavailable;
    });
    await until(async () => (await fast.attempts()).length === 2);
    await fast.stop();
    expect(isHeldUp).toBe(true);
    const [, retry] = await fast.attempts();
    const [latenessMs = NaN] = fast.retryLatenessMs;
    expect(fast.retryLatenessMs).toHaveLength(1);
    expect(latenessMs).toBeGreaterThan(500);
    expect(Math.abs(latenessMs - ((retry?.startedAt ?? NaN) - (retry?.dueAt ?? NaN)))).toBeLessThan(100);
  });

  it.each([
    ['will be tried again', 1],
    ['has failed for good', 5],
  ])(
    'starts no first attempt before a Retry-After is over, also after a restart: the delivery %s (R-22)',
    async (_, attempt) => {
      const fast = await SenderHarness.create({ speed: 10 });
      for (const id of ['subscription-1', 'another']) fast.subscribe(id);
      fast.publish(1);
      if (attempt > 1) fast.writeAttempt(anAttempt(1, { attempt: attempt - 1 }));
      await fast.start(() => ({ type: 'response', statusCode: 429, retryAfter: '10' }));
      const newest = async () => (await fast.attempts()).at(-1);
      await until(async () => (await newest())?.attempt === attempt);
      if (attempt === 5) await until(async () => (await fast.committedOffset()) === 1);
      const made = await fast.start(() => ok);
      const refused = await newest();
      fast.publish(2);
      fast.publish(3, 'another');
      const startOf = (n: number) =>
        made.find(({ delivery }) => delivery.eventId === `event-${String(n)}`)?.started.epochMs;
      await until(() => startOf(2) !== undefined);
      await fast.stop();
      const endedAt = (refused?.startedAt ?? NaN) + (refused?.durationMs ?? NaN);
      expect(refused?.retryAfterMs).toBe(10_000);
      expect((startOf(2) ?? NaN) - endedAt).toBeGreaterThanOrEqual(10_000);
      expect(startOf(3)).toBeLessThan(startOf(2) ?? NaN);
    },
  );

  it('begins no other delivery in the slot of the one that was answered with a Retry-After (R-22)', async () => {
    const fast = await SenderHarness.create({ speed: 10 });
    fast.subscribe('subscription-1');
    for (const n of [1, 2]) fast.publish(n);
    // Answered at once: an attempt that waits long for its status line gives up its slot.
    const made = await fast.start(
      ({ attempt, delivery }) =>
        delivery.eventId === 'event-1' && attempt === 1 ? { type: 'response', statusCode: 429, retryAfter: '10' } : ok,
      { slots: { perSubscription: 1 } },
    );
    const startOf = (n: number) =>
      made.find(({ delivery }) => delivery.eventId === `event-${String(n)}`)?.started.epochMs;
    await until(() => startOf(2) !== undefined);
    await fast.stop();
    expect((startOf(2) ?? NaN) - (startOf(1) ?? NaN)).toBeGreaterThanOrEqual(10_000);
  });

  it('ends a delivery that has waited for 15 days as expired, with its body and URL, and sends the next (R-29)', async () => {
    const dayMs = 86_400_000;
    // The sender follows the monotonic clock, which may differ from this one by some milliseconds.
    const oldAt = harness.nowMs() - 15 * dayMs - 30_000;
    harness.publishAt(1, oldAt);
    harness.publishAt(2, oldAt + 60_000);
    harness.publish(3);
    const made = await harness.start(() => ok);
    await until(async () => (await harness.committedOffset()) === 3);
    expect(made.map(({ delivery }) => delivery.eventId)).toEqual(['event-2', 'event-3']);
    const [expired] = await harness.attempts();
    const outcome = { outcome: 'expired', decision: 'expired', errorCode: 'expired', statusCode: null };
    const { url } = aSubscription('subscription-1');
    expect(expired).toMatchObject({ eventId: 'event-1', attempt: 1, url, body: aDelivery(1).body, ...outcome });

    await harness.start(() => ok);
    harness.publish(4);
    await until(async () => (await harness.committedOffset()) === 4);
    expect((await harness.attempts()).map(({ eventId }) => eventId)).toEqual(
      [1, 2, 3, 4].map((n) => `event-${String(n)}`),
    );
  });

  it('expires what waits for a paused subscription too, in the order of the log', async () => {
    const appendedAt = harness.nowMs() - 15 * 86_400_000 + 60_000;
    harness.subscribe('subscription-1', { status: 'paused' });
    for (const n of [1, 2, 3]) harness.publishAt(n, appendedAt);
    harness.publish(4);
    await harness.start(() => ok);
    await harness.stop();
    harness.stepClock(60_001);
    harness.subscribe('other', { status: 'paused' });
    harness.publish(5, 'other');
    const made = await harness.start(() => ok);
    await until(async () => (await harness.attempts()).length === 3);
    expect((await harness.attempts()).map(({ eventId, outcome }) => [eventId, outcome])).toEqual([
      ['event-1', 'expired'],
      ['event-2', 'expired'],
      ['event-3', 'expired'],
    ]);
    expect(made).toEqual([]);
    expect(harness.expired).toBe(3);
    harness.subscribe('subscription-1', { status: 'active' });
    await until(() => made.length === 1);
  });

  it('knows what is past due: what waits for room, and not what is being sent (R-22)', async () => {
    harness.publish(1);
    const made = await harness.start(never, { reservations: { total: 1 } });
    await until(() => made.length === 1);
    expect([...harness.waiting()]).toEqual([]);
    harness.publish(2);
    await until(() => harness.pending === 2);
    expect([...harness.waiting()]).toMatchObject([{ first: { count: 1 }, retry: { count: 0 } }]);
  });

  it('knows since when a subscription waits, until its partition is closed (R-26)', async () => {
    harness.publish(1);
    const made = await harness.start(never);
    await until(() => made.length === 1);
    const { createdAt } = aDelivery(1);
    expect([...harness.backlogAges(createdAt)]).toEqual([]);
    expect([...harness.backlogAges(createdAt + 1)]).toMatchObject([{ subscriptionId: 'subscription-1', createdAt }]);
    await harness.stop();
    expect([...harness.backlogAges(createdAt + 1)]).toEqual([]);
  });

  it('knows it too of one that only this process cannot send, and not of one that its owner has paused (R-16)', async () => {
    harness.subscribe('subscription-1', { status: 'of a newer build' });
    harness.publish(1);
    await harness.start(never);
    await until(() => harness.pending === 1);
    expect([...harness.backlogAges(Infinity)]).toMatchObject([{ subscriptionId: 'subscription-1' }]);
    harness.subscribe('subscription-1', { status: 'paused' });
    expect([...harness.backlogAges(Infinity)]).toEqual([]);
  });

  it('keeps the position at an unfinished delivery while later ones finish (R-25)', async () => {
    harness.publish(1);
    harness.publish(2);
    await harness.start((request) => (request.delivery.eventId === 'event-1' ? never(request) : ok));
    await until(async () => (await harness.attempts()).length === 1);
    expect((await harness.attempts())[0]?.eventId).toBe('event-2');
    // Longer than the sender takes to commit a position.
    await holdsFor(500, async () => {
      expect(await harness.committedOffset()).toBe(0);
    });
  });

  it('commits an attempt before the next one of the same delivery starts', async () => {
    harness.publish(1);
    const logged: number[] = [];
    const answer = async ({ attempt }: { attempt: number }) => {
      logged.push((await harness.attempts()).length);
      return attempt === 1 ? ({ type: 'response', statusCode: 401 } as const) : ok;
    };
    await harness.start(answer, { auth: 'bearer' });
    await until(async () => (await harness.attempts()).length === 2);
    expect(logged).toEqual([0, 1]);
    // At once, since it was the first 401.
    const [first] = await harness.attempts();
    expect(first?.nextDueAt).toBe((first?.startedAt ?? NaN) + (first?.durationMs ?? NaN));
  });

  it('continues after its log failed once, without gaps and without logging anything twice', async () => {
    let broken = true;
    const { backend } = harness;
    const whole = backend.fencedWriter.bind(backend);
    backend.fencedWriter = (transactionalId, partitions) => {
      const writer = whole(transactionalId, partitions);
      const append = writer.append.bind(writer);
      writer.append = (records) => {
        if (!broken) return append(records);
        broken = false;
        return Promise.reject(new Error('the broker was away for too long'));
      };
      return writer;
    };
    for (const n of [1, 2, 3]) harness.publish(n);
    const made = await harness.start(() => ok);
    await until(async () => (await harness.committedOffset()) === 3);
    const logged = (await harness.attempts()).map(({ eventId, attempt }) => [eventId, attempt]);
    expect(logged.sort()).toEqual([
      ['event-1', 1],
      ['event-2', 1],
      ['event-3', 1],
    ]);
    expect(made.length).toBeGreaterThan(3); // what could not be logged was sent again
  });

  it('stops after the fifth attempt, logs it, and publishes an operational event (R-22)', async () => {
    harness.publish(1);
    harness.writeAttempt(anAttempt(1, { attempt: 4 }));
    await harness.start(() => unavailable);
    await until(async () => (await harness.committedOffset()) === 1);
    expect((await harness.attempts()).at(-1)).toMatchObject({
      attempt: 5,
      outcome: 'failed',
      decision: 'attempts_exhausted',
      nextDueAt: null,
      body: null,
    });
    expect(await harness.operations()).toMatchObject([
      { type: 'exhausted', subscriptionId: 'subscription-1', eventId: 'event-1', deliveryOffset: 0, statusCode: 503 },
    ]);
  });
});
