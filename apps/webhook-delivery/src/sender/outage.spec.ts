import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptResult, SubscriptionState } from '@waypost/domain';
import { until } from '../../../../test/support/until.js';
import type { AttemptRequest } from '../attempt/attempt-runner.js';
import { aDelivery, ok, SenderHarness, unavailable } from './testing/sender-harness.js';

/** Five minutes pass in a second, the 15 s between probes in 50 ms. */
const SPEED = 300;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
type FailedDay = SubscriptionState['failedDays'][number];

let harness: SenderHarness;
let answer: AttemptResult;

beforeEach(async () => {
  harness = await SenderHarness.create({ speed: SPEED });
  harness.subscribe('subscription-1', { onOutage: 'hold' });
  harness.subscribe('letting-fail', { onOutage: 'fail' });
  answer = unavailable;
});

afterEach(() => harness.stop());

/** The state that a sender leaves after failures only for that long. */
function failingFor(ms: number, subscriptionId = 'subscription-1', failedDays: readonly FailedDay[] = []): void {
  const failingSince = Math.round(harness.nowMs() - ms);
  const nothingElse = { parkedFrom: null, foldFrom: null, suspendedAt: null };
  harness.writeState({ subscriptionId, failingSince, updatedAt: failingSince, ...nothingElse, failedDays });
}
/** As many as it takes, but for one. */
function nineteenFailures(): FailedDay[] {
  const today = Math.floor(harness.nowMs() / dayMs);
  return [3, 2, 1].map((daysAgo) => ({ day: today - daysAgo, failed: daysAgo === 1 ? 7 : 6 }));
}

async function published(): Promise<string[]> {
  return (await harness.operations()).map(({ type }) => type).filter((type) => type !== 'probed');
}

describe('a subscription that holds through an outage (R-29)', () => {
  it('is suspended after five minutes of failures only, with an operational event', async () => {
    failingFor(5 * minuteMs);
    harness.publish(1);
    await harness.start(() => answer);
    await until(async () => (await published()).length > 0);
    expect(await published()).toEqual(['suspended']);
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
      for (let n = 2; !(await published()).includes('suspended'); n++) {
        harness.publish(n);
        await until(() => made.length >= n);
      }
      const suspendedMs = harness.monotonicMs() - (first?.started.monotonicMs ?? NaN);
      expect(suspendedMs).toBeGreaterThanOrEqual(5 * minuteMs);
      harness.stepClock(-stepMs);
      answer = ok;
      await until(async () => (await published()).includes('resumed'));
    },
  );

  it('is not suspended without onOutage: hold', async () => {
    failingFor(5 * minuteMs, 'letting-fail');
    harness.publish(1, 'letting-fail');
    await harness.start(() => answer);
    await until(async () => (await published()).length > 0);
    expect(await published()).toEqual(['exhausted']);
  });

  it('holds new deliveries and sends one probe every 15 s, which uses up no attempt', async () => {
    failingFor(5 * minuteMs);
    harness.publish(1);
    const made = await harness.start(() => answer);
    await until(async () => (await published()).length > 0);
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
    failingFor(5 * minuteMs);
    harness.publish(1);
    const made = await harness.start(() => answer);
    await until(async () => (await harness.attempts()).filter(({ probe }) => probe).length === 2);
    harness.subscribe('subscription-1', { onOutage: 'fail' });
    await until(async () => (await published()).includes('exhausted'));
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

  it('is released in order when a probe is accepted: nothing is lost and nothing sent twice', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 3; n++) harness.publish(n);
    await harness.start(() => answer, { slots: { perSubscription: 1 }, limits: { perSubscription: 10 } });
    await until(async () => (await published()).includes('suspended'));
    for (let n = 4; n <= 50; n++) harness.publish(n);
    answer = ok;
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 50);
    const delivered = (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered');
    expect(delivered.map(({ eventId }) => eventId)).toEqual(
      Array.from({ length: 50 }, (_, i) => `event-${String(i + 1)}`),
    );
    expect(await published()).toEqual(['suspended', 'resumed']);
    await until(async () => (await harness.committedOffset()) === 50);
    await until(async () => (await harness.states()).get('subscription-1') === null);
  });

  it('stays suspended across a restart, and does not hold back the position of the others meanwhile', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 20; n++) harness.publish(n);
    await harness.start(() => answer);
    await until(async () => (await published()).includes('suspended'));
    await until(async () => (await harness.committedOffset()) === 20);
    const made = await harness.start(() => answer);
    await until(() => made.length >= 3);
    expect(new Set(made.map(({ delivery }) => delivery.eventId)).size).toBe(1);
    answer = ok;
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 20);
    expect(await published()).toEqual(['suspended', 'resumed']);
  });

  it('is resumed by an accepted probe even when it was changed meanwhile', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 5; n++) harness.publish(n);
    await harness.start(() => answer);
    await until(async () => (await published()).includes('suspended'));
    harness.subscribe('subscription-1', {
      onOutage: 'hold',
      url: 'https://repaired.example.org/',
      updatedAt: harness.nowMs(),
    });
    answer = ok;
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 5);
    expect(await published()).toEqual(['suspended', 'resumed']);
    await until(async () => (await harness.states()).get('subscription-1') === null);
  });

  it('probes with the next delivery when one fails permanently: a single bad one must not block all', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 5; n++) harness.publish(n);
    const refusingFirst = (request: { delivery: { eventId: string } }): AttemptResult =>
      answer === ok && request.delivery.eventId === 'event-1' ? { type: 'response', statusCode: 422 } : answer;
    await harness.start(refusingFirst);
    await until(async () => (await published()).includes('suspended'));
    answer = ok;
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome !== 'retrying').length === 5);
    expect(await published()).toEqual(['suspended', 'resumed']);
    const failed = (await harness.attempts()).filter(({ outcome }) => outcome === 'failed');
    expect(failed.map(({ eventId, decision }) => [eventId, decision])).toEqual([['event-1', 'permanent_status']]);
  });

  it('gets no probe while it is paused, and the next one once it is active (R-16)', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 5; n++) harness.publish(n);
    const made = await harness.start(() => answer);
    await until(async () => (await harness.attempts()).some(({ probe }) => probe));
    harness.subscribe('subscription-1', { onOutage: 'hold', status: 'paused' });
    await until(async () => (await harness.attempts()).length === made.length);
    const before = made.length;
    const pausedAt = harness.nowMs();
    await until(() => harness.nowMs() - pausedAt > 10 * 15_000);
    expect(made).toHaveLength(before);
    expect(await published()).toEqual(['suspended']);
    answer = ok;
    harness.subscribe('subscription-1', { onOutage: 'hold' });
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 5);
    expect(made.length).toBe(before + 5);
    expect(await published()).toEqual(['suspended', 'resumed']);
  });

  it('ends what waits as failed when it is disabled, without holding any of it (R-16)', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 5; n++) harness.publish(n);
    await harness.start(() => answer);
    await until(async () => (await published()).includes('suspended'));
    answer = { type: 'error', errorCode: 'subscription_disabled', detail: '' };
    harness.subscribe('subscription-1', { onOutage: 'hold', status: 'disabled' });
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome === 'failed').length === 5);
    const failed = (await harness.attempts()).filter(({ outcome }) => outcome === 'failed');
    expect(failed.map(({ errorCode, probe }) => [errorCode, probe])).toEqual(
      Array.from({ length: 5 }, () => ['subscription_disabled', false]),
    );
  });

  it('ends the oldest delivery as expired after 15 days, with its probes, and probes the next (R-29)', async () => {
    const createdAt = Math.round(harness.nowMs() - 15 * dayMs + 2 * minuteMs);
    const suspendedAt = Math.round(harness.nowMs() - minuteMs);
    const nothingElse = { subscriptionId: 'subscription-1', parkedFrom: null, foldFrom: null, failedDays: [] };
    harness.writeState({ ...nothingElse, failingSince: suspendedAt, suspendedAt, updatedAt: suspendedAt });
    harness.append(harness.codecs.webhookDeliveries.encode({ ...aDelivery(1), createdAt }));
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

  it.each(['while it is watched', 'while no sender runs'])(
    'leaves no state behind when it is deleted %s',
    async (when) => {
      failingFor(4 * minuteMs, 'letting-fail');
      if (when === 'while no sender runs') harness.unsubscribe('letting-fail');
      await harness.start(() => answer);
      if (when === 'while it is watched') harness.unsubscribe('letting-fail');
      harness.publish(1);
      await until(async () => (await harness.states()).get('letting-fail') === null);
    },
  );

  it('keeps its state when the process has not read yet that it exists', async () => {
    failingFor(5 * minuteMs);
    harness.unsubscribe('subscription-1');
    harness.unread = () => {
      harness.subscribe('subscription-1', { onOutage: 'hold' });
    };
    await harness.start(() => answer);
    harness.publish(1);
    // Without it, the five minutes would begin again.
    await until(async () => (await published()).includes('suspended'));
  });

  it('leaves no state behind either when an attempt was in flight as it was deleted', async () => {
    failingFor(4 * minuteMs, 'letting-fail');
    harness.publish(1, 'letting-fail');
    let end = (): void => undefined;
    const answered = new Promise<void>((resolve) => (end = resolve));
    const made = await harness.start(async ({ delivery }) => {
      if (delivery.eventId === 'event-1') await answered;
      return unavailable;
    });
    await until(() => made.length === 1);
    harness.unsubscribe('letting-fail');
    harness.publish(2);
    await until(async () => (await harness.states()).get('letting-fail') === null);
    end();
    await until(async () => (await harness.attempts()).some(({ eventId }) => eventId === 'event-1'));
    const answeredMs = harness.monotonicMs();
    for (let n = 3; harness.monotonicMs() < answeredMs + 3 * minuteMs; n++) {
      harness.publish(n);
      await until(() => made.some(({ delivery }) => delivery.eventId === `event-${String(n)}`));
    }
    expect((await harness.states()).get('letting-fail')).toBeNull();
  });

  it('releases the held deliveries when onOutage is no longer hold', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 5; n++) harness.publish(n);
    await harness.start(() => answer);
    await until(async () => (await published()).includes('suspended'));
    harness.subscribe('subscription-1', { onOutage: 'fail' });
    await until(async () => (await published()).filter((type) => type === 'exhausted').length === 5);
    expect((await published()).slice(0, 2)).toEqual(['suspended', 'resumed']);
    await until(async () => (await harness.committedOffset()) === 5);
  });
});

describe('a subscription with only failures for 7 days (R-29)', () => {
  it('is reported as disabled, once, with the reason', async () => {
    failingFor(7 * dayMs, 'letting-fail', nineteenFailures());
    for (let n = 1; n <= 5; n++) harness.publish(n, 'letting-fail');
    await harness.start(() => answer);
    await until(async () => (await published()).filter((type) => type === 'exhausted').length === 5);
    await until(async () => (await published()).includes('disabled'));
    const disabled = (await harness.operations()).filter(({ type }) => type === 'disabled');
    expect(disabled).toMatchObject([{ subscriptionId: 'letting-fail', reason: 'only failures for 7 days' }]);
  });

  it('is not disabled before 20 deliveries have failed, on at least 3 of these days', async () => {
    const [first, second] = nineteenFailures();
    if (first && second) failingFor(7 * dayMs, 'letting-fail', [first, second]);
    for (let n = 1; n <= 5; n++) harness.publish(n, 'letting-fail');
    await harness.start(() => answer);
    await until(async () => (await published()).filter((type) => type === 'exhausted').length === 5);
    expect((await harness.operations()).filter(({ type }) => type === 'disabled')).toEqual([]);
  });

  it('remembers across a restart how many deliveries failed on which days', async () => {
    const known = nineteenFailures();
    failingFor(dayMs, 'letting-fail', known);
    harness.publish(1, 'letting-fail');
    await harness.start(() => answer);
    const day = Math.floor(harness.nowMs() / dayMs);
    const stored = async () => (await harness.states()).get('letting-fail')?.failedDays;
    await until(async () => (await stored())?.length === 4);
    expect(await stored()).toEqual([...known, { day, failed: 1 }]);
    await harness.start(() => answer);
    harness.publish(2, 'letting-fail');
    await until(async () => (await stored())?.at(-1)?.failed === 2);
    expect(await stored()).toEqual([...known, { day, failed: 2 }]);
  });

  it('is reported under the same id after a restart, so that it counts once', async () => {
    failingFor(7 * dayMs, 'letting-fail', nineteenFailures());
    harness.publish(1, 'letting-fail');
    await harness.start(() => answer);
    const disabled = async () => (await harness.operations()).filter(({ type }) => type === 'disabled');
    await until(async () => (await disabled()).length === 1);
    await harness.start(() => answer);
    harness.publish(2, 'letting-fail');
    await until(async () => (await disabled()).length === 2);
    expect(new Set((await disabled()).map(({ id }) => id)).size).toBe(1);
  });

  it('is counted from its last change: enabled again, it gets another 7 days', async () => {
    failingFor(7 * dayMs, 'letting-fail', nineteenFailures());
    harness.subscribe('letting-fail', { updatedAt: Math.round(harness.nowMs()) });
    harness.publish(1, 'letting-fail');
    await harness.start(() => answer);
    await until(async () => (await published()).includes('exhausted'));
    expect(await published()).toEqual(['exhausted']);
  });

  it('is not disabled when an attempt was accepted in between', async () => {
    failingFor(7 * dayMs - 1_000, 'letting-fail', nineteenFailures());
    harness.publish(1, 'letting-fail');
    let attempts = 0;
    await harness.start(() => (++attempts === 1 ? ok : unavailable));
    harness.publish(2, 'letting-fail');
    await until(async () => (await published()).includes('exhausted'));
    expect(await published()).toEqual(['exhausted']);
  });
});
