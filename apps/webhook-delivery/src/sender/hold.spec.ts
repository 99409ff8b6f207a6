import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AttemptResult } from '@waypost/domain';
import { ok, SenderBench, unavailable } from './testing/sender-bench.js';
import { until } from '../../../../test/support/until.js';

/** Five minutes pass in a second, the 15 s between probes in 50 ms. */
const SPEED = 300;
const minuteMs = 60_000;

let bench: SenderBench;
let answer: AttemptResult;

beforeEach(async () => {
  bench = await SenderBench.create({ speed: SPEED });
  bench.subscribe('subscription-1', { onOutage: 'hold' });
  bench.subscribe('letting-fail', { onOutage: 'fail' });
  answer = unavailable;
});

afterEach(() => bench.stop());

/** As a sender left it that has seen nothing but failures for so long. */
const failingFor = (ms: number, subscriptionId = 'subscription-1'): void => {
  const failingSince = Math.round(bench.now() - ms);
  const nothingElse = { parkedFrom: null, foldFrom: null, suspendedAt: null };
  bench.writeState({ subscriptionId, failingSince, updatedAt: failingSince, ...nothingElse });
};

const told = async (): Promise<string[]> =>
  (await bench.operations()).map(({ type }) => type).filter((type) => type !== 'probed');

describe('a subscription that holds through an outage (R-29)', () => {
  it('is suspended after five minutes of nothing but failures, and says so', async () => {
    failingFor(5 * minuteMs);
    bench.publish(1);
    await bench.start(() => answer);
    await until(async () => (await told()).length > 0);
    expect(await told()).toEqual(['suspended']);
    expect((await bench.states()).get('subscription-1')?.suspendedAt).not.toBeNull();
  });

  it('is not suspended when it did not ask for it', async () => {
    failingFor(5 * minuteMs, 'letting-fail');
    bench.publish(1, 'letting-fail');
    await bench.start(() => answer);
    await until(async () => (await told()).length > 0);
    expect(await told()).toEqual(['exhausted']);
  });

  it('keeps new deliveries, sends one probe every 15 s, and uses up no attempt with it', async () => {
    failingFor(5 * minuteMs);
    bench.publish(1);
    const made = await bench.start(() => answer);
    await until(async () => (await told()).length > 0);
    const before = made.length;
    for (let n = 2; n <= 40; n++) bench.publish(n);
    const suspendedAt = (await bench.operations())[0]?.occurredAt ?? NaN;
    await until(() => made.length >= before + 4);
    const probes = made.slice(before);
    expect(new Set(probes.map(({ delivery, attempt }) => `${delivery.eventId} ${String(attempt)}`)).size).toBe(1);
    for (const [i, { startedAt }] of probes.entries()) {
      // A timer of this test may be late by some real milliseconds, which are seconds here.
      expect(startedAt - suspendedAt).toBeGreaterThanOrEqual((i + 1) * 15_000 - SPEED);
    }
    expect((await bench.attempts()).filter(({ eventId }) => eventId !== 'event-1')).toEqual([]);
  });

  it('goes out in order when a probe is accepted: nothing is lost and nothing sent twice', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 3; n++) bench.publish(n);
    await bench.start(() => answer, { turns: { perSubscription: 1 }, limits: { perSubscription: 10 } });
    await until(async () => (await told()).includes('suspended'));
    for (let n = 4; n <= 50; n++) bench.publish(n);
    answer = ok;
    await until(async () => (await bench.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 50);
    const delivered = (await bench.attempts()).filter(({ outcome }) => outcome === 'delivered');
    expect(delivered.map(({ eventId }) => eventId)).toEqual(
      Array.from({ length: 50 }, (_, i) => `event-${String(i + 1)}`),
    );
    expect(await told()).toEqual(['suspended', 'resumed']);
    await until(async () => (await bench.committedOffset()) === 50);
    await until(async () => (await bench.states()).get('subscription-1') === null);
  });

  it('stays suspended over a restart, and does not hold back the position of the others meanwhile', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 20; n++) bench.publish(n);
    await bench.start(() => answer);
    await until(async () => (await told()).includes('suspended'));
    await until(async () => (await bench.committedOffset()) === 20);
    const made = await bench.start(() => answer);
    await until(() => made.length >= 3);
    expect(new Set(made.map(({ delivery }) => delivery.eventId)).size).toBe(1);
    answer = ok;
    await until(async () => (await bench.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 20);
    expect(await told()).toEqual(['suspended', 'resumed']);
  });

  it('is resumed by an accepted probe also when its owner has changed it meanwhile', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 5; n++) bench.publish(n);
    await bench.start(() => answer);
    await until(async () => (await told()).includes('suspended'));
    bench.subscribe('subscription-1', { onOutage: 'hold', url: 'https://mended.example.org/', updatedAt: bench.now() });
    answer = ok;
    await until(async () => (await bench.attempts()).filter(({ outcome }) => outcome === 'delivered').length === 5);
    expect(await told()).toEqual(['suspended', 'resumed']);
    await until(async () => (await bench.states()).get('subscription-1') === null);
  });

  it('probes with the next delivery when one is refused for good: a single bad one must not hold all', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 5; n++) bench.publish(n);
    const refusingFirst = (request: { delivery: { eventId: string } }): AttemptResult =>
      answer === ok && request.delivery.eventId === 'event-1' ? { type: 'response', statusCode: 422 } : answer;
    await bench.start(refusingFirst);
    await until(async () => (await told()).includes('suspended'));
    answer = ok;
    await until(async () => (await bench.attempts()).filter(({ outcome }) => outcome !== 'retrying').length === 5);
    expect(await told()).toEqual(['suspended', 'resumed']);
    const failed = (await bench.attempts()).filter(({ outcome }) => outcome === 'failed');
    expect(failed.map(({ eventId, decision }) => [eventId, decision])).toEqual([['event-1', 'permanent_status']]);
  });

  it('lets go of what it holds when its owner does not want it held any more', async () => {
    failingFor(5 * minuteMs);
    for (let n = 1; n <= 5; n++) bench.publish(n);
    await bench.start(() => answer);
    await until(async () => (await told()).includes('suspended'));
    bench.subscribe('subscription-1', { onOutage: 'fail' });
    await until(async () => (await told()).filter((type) => type === 'exhausted').length === 5);
    expect((await told()).slice(0, 2)).toEqual(['suspended', 'resumed']);
    await until(async () => (await bench.committedOffset()) === 5);
  });
});

describe('a subscription with nothing but failures for 7 days (R-29)', () => {
  it('is told to be disabled, once, with the reason', async () => {
    failingFor(7 * 24 * 60 * minuteMs, 'letting-fail');
    for (let n = 1; n <= 5; n++) bench.publish(n, 'letting-fail');
    await bench.start(() => answer);
    await until(async () => (await told()).filter((type) => type === 'exhausted').length === 5);
    const disabled = (await bench.operations()).filter(({ type }) => type === 'disabled');
    expect(disabled).toMatchObject([{ subscriptionId: 'letting-fail', reason: 'nothing but failures for 7 days' }]);
  });

  it('is told under the same id after a restart, so that it counts once', async () => {
    failingFor(7 * 24 * 60 * minuteMs, 'letting-fail');
    bench.publish(1, 'letting-fail');
    await bench.start(() => answer);
    const disabled = async () => (await bench.operations()).filter(({ type }) => type === 'disabled');
    await until(async () => (await disabled()).length === 1);
    await bench.start(() => answer);
    bench.publish(2, 'letting-fail');
    await until(async () => (await disabled()).length === 2);
    expect(new Set((await disabled()).map(({ id }) => id)).size).toBe(1);
  });

  it('is counted anew from when its owner changed it: enabled again, it gets another 7 days', async () => {
    failingFor(7 * 24 * 60 * minuteMs, 'letting-fail');
    bench.subscribe('letting-fail', { updatedAt: Math.round(bench.now()) });
    bench.publish(1, 'letting-fail');
    await bench.start(() => answer);
    await until(async () => (await told()).includes('exhausted'));
    expect(await told()).toEqual(['exhausted']);
  });

  it('is not disabled when an attempt was accepted in between', async () => {
    failingFor(7 * 24 * 60 * minuteMs - 1_000, 'letting-fail');
    bench.publish(1, 'letting-fail');
    let attempts = 0;
    await bench.start(() => (++attempts === 1 ? ok : unavailable));
    bench.publish(2, 'letting-fail');
    await until(async () => (await told()).includes('exhausted'));
    expect(await told()).toEqual(['exhausted']);
  });
});
