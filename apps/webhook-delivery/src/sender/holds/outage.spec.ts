import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptResult } from '@waypost/domain';
import { until } from '../../../../../test/support/until.js';
import type { AttemptRequest } from '../../single-attempt/attempt-runner.js';
import { dayMs, minuteMs, openOutageHarness, published, SPEED } from '../testing/outage-harness.js';
import { ok, SenderHarness, unavailable } from '../testing/sender-harness.js';

let harness: SenderHarness;
let answer: AttemptResult;

beforeEach(async () => {
  harness = await openOutageHarness();
  answer = unavailable;
});

afterEach(() => harness.stop());

describe('a subscription that holds through an outage (R-29)', () => {
  it('is suspended after five minutes of failures only, with an operational event', async () => {
    harness.leaveFailing(5 * minuteMs);
    harness.publish(1);
    await harness.start(() => answer);
    await until(async () => (await published(harness)).length > 0);
    expect(await published(harness)).toEqual(['suspended']);
    expect((await harness.states()).get('subscription-1')?.suspendedAt).not.toBeNull();
  });

  it.each([dayMs, -dayMs])(
    'is suspended after five minutes though the clock was set by %d ms after the first failure, and probed',
    async (stepMs) => {
      harness.publish(1);
      const made = await harness.start(() => answer);
      await until(() => made.length > 0);
      harness.stepClock(stepMs);
      const [first] = made;
      for (let n = 2; !(await published(harness)).includes('suspended'); n++) {
        harness.publish(n);
        await until(() => made.length >= n);
      }
      const suspendedMs = harness.monotonicMs() - (first?.started.monotonicMs ?? NaN);
      expect(suspendedMs).toBeGreaterThanOrEqual(5 * minuteMs);
      harness.stepClock(-stepMs);
      answer = ok;
      await until(async () => (await published(harness)).includes('resumed'));
    },
  );

  it('is suspended though the clock that dated its last change is ahead of that of the sender', async () => {
    harness.subscribe('subscription-1', { onOutage: 'hold', updatedAt: harness.nowMs() + dayMs });
    const made = await harness.start(() => answer);
    for (let n = 1; !(await published(harness)).includes('suspended'); n++) {
      harness.publish(n);
      await until(() => made.length >= n);
    }
    expect((await harness.states()).get('subscription-1')?.suspendedAt).not.toBeNull();
  });

  it('is not suspended without onOutage: hold', async () => {
    harness.leaveFailing(5 * minuteMs, 'letting-fail');
    harness.publish(1, 'letting-fail');
    await harness.start(() => answer);
    await until(async () => (await published(harness)).length > 0);
    expect(await published(harness)).toEqual(['exhausted']);
  });

  it('holds new deliveries and sends one probe every 15 s, which uses up no attempt', async () => {
    harness.leaveFailing(5 * minuteMs);
    harness.publish(1);
    const made = await harness.start(() => answer);
    await until(async () => (await published(harness)).length > 0);
    const before = made.length;
    for (let n = 2; n <= 40; n++) harness.publish(n);
    const suspendedAt = (await harness.operations())[0]?.occurredAt ?? NaN;
    await until(() => made.length >= before + 6);
    const probes = made.slice(before);
    expect(new Set(probes.map(({ delivery, attempt }) => `${delivery.eventId} ${String(attempt)}`)).size).toBe(1);
    // Each is a span of its own.
    expect(new Set(probes.map(({ traceparent }) => traceparent)).size).toBe(probes.length);
    for (const [i, { started }] of probes.entries()) {
      // A timer of this test may be late by some real milliseconds, which are seconds here.
      expect(started.epochMs - suspendedAt).toBeGreaterThanOrEqual((i + 1) * 15_000 - SPEED);
    }
    const spacings = probes.slice(1).map(({ started }, i) => started.epochMs - (probes[i]?.started.epochMs ?? NaN));
    // Some are late on a loaded machine; a longer interval would make all of them late.
    expect(Math.min(...spacings)).toBeLessThan(15_000 + 10 * SPEED);
    expect((await harness.attempts()).filter(({ eventId }) => eventId !== 'event-1')).toEqual([]);
  });

  it('publishes each probe that was not accepted, with its delivery', async () => {
    harness.leaveFailing(5 * minuteMs);
    harness.publish(1);
    await harness.start(() => answer);
    const probed = async () => (await harness.operations()).filter(({ type }) => type === 'probed');
    await until(async () => (await probed()).length >= 2);
    const [first, second] = await probed();
    const about = { subscriptionId: 'subscription-1', eventId: 'event-1', deliveryOffset: 0, statusCode: 503 };
    expect(first).toMatchObject({ ...about, reason: 'the probe was not accepted' });
    expect(second?.id).not.toBe(first?.id);
  });

  it('logs each probe with its number, the first record of a delivery with the body (R-24)', async () => {
    const suspendedAt = Math.round(harness.nowMs());
    const nothingElse = { subscriptionId: 'subscription-1', parkedFrom: null, foldFrom: null, failedDays: [] };
    harness.writeState({ ...nothingElse, failingSince: suspendedAt, suspendedAt, updatedAt: suspendedAt });
    harness.publish(1);
    const made = await harness.start(() => answer);
    await until(() => made.length === 3);
    answer = { type: 'response', statusCode: 200 };
    await until(async () => (await harness.attempts()).length === 4);
    const logged = (await harness.attempts()).map(({ attempt, probe, probes, outcome, body }) => [
      ...[attempt, probe, probes],
      ...[outcome, body],
    ]);
    expect(logged).toEqual([
      [1, true, 1, 'retrying', '{"n":1}'],
      [1, true, 2, 'retrying', null],
      [1, true, 3, 'retrying', null],
      [1, true, 4, 'delivered', null],
    ]);
  });

  it('leaves all five attempts to a delivery that was probed and is no longer held (R-22)', async () => {
    harness.leaveFailing(5 * minuteMs);
    harness.publish(1);
    const made = await harness.start(() => answer);
    await until(async () => (await harness.attempts()).filter(({ probe }) => probe).length === 2);
    harness.subscribe('subscription-1', { onOutage: 'fail' });
    await until(async () => (await published(harness)).includes('exhausted'));
    const logged = await harness.attempts();
    expect(logged.filter(({ probe }) => !probe).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
    expect(logged).toHaveLength(made.length);
  });

  it.each([
    ['was not accepted', 503],
    ['ended its delivery', 422],
  ])(
    'waits for what is left of the 15 s after a restart, by the last probe in the log: it %s',
    async (_, statusCode) => {
      // A restart takes less than 15 s of this clock.
      const slower = await SenderHarness.create({ speed: 20 });
      slower.subscribe('subscription-1', { onOutage: 'hold' });
      const suspendedAt = Math.round(slower.nowMs() - minuteMs);
      const nothingElse = { subscriptionId: 'subscription-1', parkedFrom: null, foldFrom: null, failedDays: [] };
      slower.writeState({ ...nothingElse, failingSince: suspendedAt, suspendedAt, updatedAt: suspendedAt });
      const starts: number[] = [];
      const answerProbe = ({ started }: AttemptRequest): AttemptResult => {
        starts.push(started.epochMs);
        return { type: 'response', statusCode };
      };
      for (const n of [1, 2, 3]) {
        slower.publish(n);
        await slower.start(answerProbe);
        await until(async () => (await slower.attempts()).length === n);
        if (statusCode === 422) await until(async () => (await slower.committedOffset()) === n);
      }
      await slower.stop();
      expect((await slower.attempts()).every(({ probe }) => probe)).toBe(true);
      const spacings = starts.slice(1).map((at, index) => at - (starts[index] ?? NaN));
      expect(spacings).toHaveLength(2);
      expect(Math.min(...spacings)).toBeGreaterThanOrEqual(15_000 - 2 * 20);
    },
  );

  it.each([
    ['by the same sender', false],
    ['by a successor', true],
  ])('is probed %s only when the Retry-After of the probe before is over (R-22)', async (_, isHandedOver) => {
    const slower = await SenderHarness.create({ speed: 50 });
    slower.subscribe('subscription-1', { onOutage: 'hold' });
    const suspendedAt = Math.round(slower.nowMs() - minuteMs);
    const nothingElse = { subscriptionId: 'subscription-1', parkedFrom: null, foldFrom: null, failedDays: [] };
    slower.writeState({ ...nothingElse, failingSince: suspendedAt, suspendedAt, updatedAt: suspendedAt });
    slower.publish(1);
    const answerLate = async ({ started }: AttemptRequest): Promise<AttemptResult> => {
      await until(() => slower.nowMs() >= started.epochMs + 4_000);
      return { type: 'response', statusCode: 503, retryAfter: '15' };
    };
    await slower.start(answerLate);
    await until(async () => (await slower.attempts()).length === 1);
    if (isHandedOver) await slower.start(answerLate);
    await until(async () => (await slower.attempts()).length === 2);
    await slower.stop();
    const [first, second] = await slower.attempts();
    const endedAt = (first?.startedAt ?? NaN) + (first?.durationMs ?? NaN);
    expect(second?.probe).toBe(true);
    // A timer may fire a millisecond early, which is 50 here.
    expect((second?.startedAt ?? NaN) - endedAt).toBeGreaterThanOrEqual(15_000 - 2 * 50);
  });

  it('is released in order when a probe is accepted: nothing is lost and nothing sent twice', async () => {
    harness.leaveFailing(5 * minuteMs);
    for (let n = 1; n <= 3; n++) harness.publish(n);
    await harness.start(() => answer, { slots: { perSubscription: 1 }, limits: { perSubscription: 10 } });
    await until(async () => (await published(harness)).includes('suspended'));
    for (let n = 4; n <= 50; n++) harness.publish(n);
    answer = ok;
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 50);
    const delivered = (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered');
    expect(delivered.map(({ eventId }) => eventId)).toEqual(
      Array.from({ length: 50 }, (_, i) => `event-${String(i + 1)}`),
    );
    expect(await published(harness)).toEqual(['suspended', 'resumed']);
    await until(async () => (await harness.committedOffset()) === 50);
    await until(async () => (await harness.states()).get('subscription-1') === null);
  });

  it('stays suspended across a restart, and does not hold back the position of the others meanwhile', async () => {
    harness.leaveFailing(5 * minuteMs);
    for (let n = 1; n <= 20; n++) harness.publish(n);
    await harness.start(() => answer);
    await until(async () => (await published(harness)).includes('suspended'));
    await until(async () => (await harness.committedOffset()) === 20);
    const made = await harness.start(() => answer);
    await until(() => made.length >= 3);
    expect(new Set(made.map(({ delivery }) => delivery.eventId)).size).toBe(1);
    answer = ok;
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 20);
    expect(await published(harness)).toEqual(['suspended', 'resumed']);
  });

  it('is resumed by an accepted probe even when it was changed meanwhile', async () => {
    harness.leaveFailing(5 * minuteMs);
    for (let n = 1; n <= 5; n++) harness.publish(n);
    await harness.start(() => answer);
    await until(async () => (await published(harness)).includes('suspended'));
    harness.subscribe('subscription-1', {
      onOutage: 'hold',
      url: 'https://repaired.example.org/',
      updatedAt: harness.nowMs(),
    });
    answer = ok;
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 5);
    expect(await published(harness)).toEqual(['suspended', 'resumed']);
    await until(async () => (await harness.states()).get('subscription-1') === null);
  });

  it('probes with the next delivery when one fails permanently: a single bad one must not block all', async () => {
    harness.leaveFailing(5 * minuteMs);
    for (let n = 1; n <= 5; n++) harness.publish(n);
    const refusingFirst = (request: { delivery: { eventId: string } }): AttemptResult =>
      answer === ok && request.delivery.eventId === 'event-1' ? { type: 'response', statusCode: 422 } : answer;
    await harness.start(refusingFirst);
    await until(async () => (await published(harness)).includes('suspended'));
    answer = ok;
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome !== 'retrying').length === 5);
    expect(await published(harness)).toEqual(['suspended', 'resumed']);
    const failed = (await harness.attempts()).filter(({ outcome }) => outcome === 'failed');
    expect(failed.map(({ eventId, decision }) => [eventId, decision])).toEqual([['event-1', 'permanent_status']]);
  });

  it('gets no probe while it is paused, and the next one once it is active (R-16)', async () => {
    harness.leaveFailing(5 * minuteMs);
    for (let n = 1; n <= 5; n++) harness.publish(n);
    const made = await harness.start(() => answer);
    await until(async () => (await harness.attempts()).some(({ probe }) => probe));
    harness.subscribe('subscription-1', { onOutage: 'hold', status: 'paused' });
    await until(async () => (await harness.attempts()).length === made.length);
    const before = made.length;
    const pausedAt = harness.nowMs();
    await until(() => harness.nowMs() - pausedAt > 10 * 15_000);
    expect(made).toHaveLength(before);
    expect(await published(harness)).toEqual(['suspended']);
    answer = ok;
    harness.subscribe('subscription-1', { onOutage: 'hold' });
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 5);
    expect(made.length).toBe(before + 5);
    expect(await published(harness)).toEqual(['suspended', 'resumed']);
  });

  it('has one probe at a time, also when it is paused and active again before the response of one', async () => {
    harness.leaveFailing(5 * minuteMs);
    for (let n = 1; n <= 5; n++) harness.publish(n);
    const responses: ((result: AttemptResult) => void)[] = [];
    let isSlow = false;
    await harness.start(() => (isSlow ? new Promise((resolve) => responses.push(resolve)) : answer));
    await until(async () => (await published(harness)).includes('suspended'));
    isSlow = true;
    await until(() => responses.length === 1);
    for (const status of ['paused', 'active'] as const) {
      harness.subscribe('subscription-1', { onOutage: 'hold', status });
      const since = harness.nowMs();
      await until(() => harness.nowMs() - since > 5 * 15_000);
      expect(responses).toHaveLength(1);
    }
    [isSlow, answer] = [false, ok];
    responses[0]?.(ok);
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 5);
  });

  it('ends what waits as failed when it is disabled, without holding any of it (R-16)', async () => {
    harness.leaveFailing(5 * minuteMs);
    for (let n = 1; n <= 5; n++) harness.publish(n);
    await harness.start(() => answer);
    await until(async () => (await published(harness)).includes('suspended'));
    answer = { type: 'error', errorCode: 'subscription_disabled', detail: '' };
    harness.subscribe('subscription-1', { onOutage: 'hold', status: 'disabled' });
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'failed').length === 5);
    const failed = (await harness.attempts()).filter(({ outcome }) => outcome === 'failed');
    expect(failed.map(({ errorCode, probe }) => [errorCode, probe])).toEqual(
      Array.from({ length: 5 }, () => ['subscription_disabled', false]),
    );
  });

  it('ends the oldest delivery as expired after 15 days, with its probes, and probes the next (R-29)', async () => {
    const appendedAt = Math.round(harness.nowMs() - 15 * dayMs + 2 * minuteMs);
    const suspendedAt = Math.round(harness.nowMs() - minuteMs);
    const nothingElse = { subscriptionId: 'subscription-1', parkedFrom: null, foldFrom: null, failedDays: [] };
    harness.writeState({ ...nothingElse, failingSince: suspendedAt, suspendedAt, updatedAt: suspendedAt });
    harness.publishAt(1, appendedAt);
    harness.publish(2);
    await harness.start(() => answer);
    await until(async () => (await harness.attempts()).some(({ eventId }) => eventId === 'event-2'));
    const logged = await harness.attempts();
    const ofFirst = logged.filter(({ eventId }) => eventId === 'event-1');
    expect(ofFirst.length).toBeGreaterThan(2);
    expect(ofFirst.slice(0, -1).every(({ probe, outcome }) => probe && outcome === 'retrying')).toBe(true);
    expect(ofFirst.at(-1)).toMatchObject({ outcome: 'expired', probe: false, attempt: 1, probes: ofFirst.length - 1 });
    expect(harness.expired).toBe(1);
    expect(logged[ofFirst.length]).toMatchObject({ eventId: 'event-2', probe: true, probes: 1 });
  });

  it('releases the held deliveries when onOutage is no longer hold', async () => {
    harness.leaveFailing(5 * minuteMs);
    for (let n = 1; n <= 5; n++) harness.publish(n);
    await harness.start(() => answer);
    await until(async () => (await published(harness)).includes('suspended'));
    harness.subscribe('subscription-1', { onOutage: 'fail' });
    await until(async () => (await published(harness)).filter((type) => type === 'exhausted').length === 5);
    expect((await published(harness)).slice(0, 2)).toEqual(['suspended', 'resumed']);
    await until(async () => (await harness.committedOffset()) === 5);
  });
});
