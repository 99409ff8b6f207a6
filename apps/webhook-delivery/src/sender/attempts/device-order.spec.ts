import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';
import type { AttemptRequest, AttemptRun } from '../../single-attempt/attempt-runner.js';
import { ok, SenderHarness, unavailable } from '../testing/sender-harness.js';

let harness: SenderHarness;

beforeEach(async () => {
  harness = await SenderHarness.create({ speed: 50 });
  harness.subscribe('free');
  harness.subscribe('strict', { strictOrder: true });
});

afterEach(() => harness.stop());

describe('the order of deliveries (R-28)', () => {
  it('is the order of events for first attempts, and a retry does not delay newer deliveries', async () => {
    for (let n = 1; n <= 5; n++) harness.publish(n, 'free', 'one device');
    const made = await harness.start(({ delivery, attempt }) =>
      delivery.eventId === 'event-2' && attempt === 1 ? unavailable : ok,
    );
    await until(async () => (await harness.committedOffset()) === 5);
    expect(made.map(({ delivery, attempt }) => `${delivery.eventId} ${String(attempt)}`)).toEqual([
      'event-1 1',
      'event-2 1',
      'event-3 1',
      'event-4 1',
      'event-5 1',
      'event-2 2',
    ]);
  });

  it('is strict on request: a device waits until its earlier event is finished', async () => {
    for (let n = 1; n <= 3; n++) harness.publish(n, 'strict', 'one device');
    harness.publish(4, 'strict', 'another device');
    const made = await harness.start(({ delivery, attempt }) =>
      delivery.eventId === 'event-1' && attempt < 3 ? unavailable : ok,
    );
    await until(async () => (await harness.committedOffset()) === 4);
    expect(made.map(({ delivery, attempt }) => `${delivery.eventId} ${String(attempt)}`)).toEqual([
      'event-1 1',
      'event-4 1',
      'event-1 2',
      'event-1 3',
      'event-2 1',
      'event-3 1',
    ]);
  });

  it('is strict after a restart too, and continues after an event that failed permanently', async () => {
    for (let n = 1; n <= 3; n++) harness.publish(n, 'strict', 'one device');
    await harness.start(() => unavailable);
    await until(async () => (await harness.attempts()).length === 2);
    const made = await harness.start(({ delivery }) => (delivery.eventId === 'event-1' ? unavailable : ok));
    await until(async () => (await harness.committedOffset()) === 3);
    const order = made.map(({ delivery }) => delivery.eventId);
    expect(order.slice(-2)).toEqual(['event-2', 'event-3']);
    expect(order.slice(0, -2).every((eventId) => eventId === 'event-1')).toBe(true);
    expect(
      (await harness.attempts()).filter(({ eventId }) => eventId === 'event-1').map(({ attempt }) => attempt),
    ).toEqual([1, 2, 3, 4, 5]);
  });

  it('is no longer strict at once when that is switched off: what waited starts, in the order of its events', async () => {
    const slow = await SenderHarness.create();
    slow.subscribe('strict', { strictOrder: true });
    for (let n = 1; n <= 4; n++) slow.publish(n, 'strict', 'one device');
    const made = await slow.start(({ delivery }) => (delivery.eventId === 'event-1' ? unavailable : ok));
    await until(async () => (await slow.attempts()).length === 1);
    slow.subscribe('strict', { strictOrder: false });
    slow.publish(5, 'strict', 'one device');
    await until(() => made.length >= 5);
    expect(made.slice(0, 5).map(({ delivery }) => delivery.eventId)).toEqual(
      [1, 2, 3, 4, 5].map((n) => `event-${String(n)}`),
    );
    await slow.stop();
  });

  it('holds from the moment that it is switched on: newer events wait for all that were under way', async () => {
    harness.publish(1, 'free', 'one device');
    harness.publish(2, 'free', 'one device');
    const made = await harness.start(({ attempt, delivery }) =>
      attempt === 1 && delivery.eventId !== 'event-3' ? unavailable : ok,
    );
    await until(async () => (await harness.attempts()).length === 2);
    harness.subscribe('free', { strictOrder: true });
    harness.publish(3, 'free', 'one device');
    await until(async () => (await harness.committedOffset()) === 3);
    const started = made.map(({ delivery, attempt }) => `${delivery.eventId} ${String(attempt)}`);
    expect(started.slice(0, 4).sort()).toEqual(['event-1 1', 'event-1 2', 'event-2 1', 'event-2 2']);
    expect(started.slice(4)).toEqual(['event-3 1']);
  });

  it('stays as it is when another version of the subscription comes while deliveries wait', async () => {
    const slow = await SenderHarness.create();
    slow.subscribe('strict', { strictOrder: true });
    for (let n = 1; n <= 3; n++) slow.publish(n, 'strict', 'one device');
    const made = await slow.start(({ delivery, attempt }) =>
      delivery.eventId === 'event-1' && attempt === 1 ? unavailable : ok,
    );
    await until(async () => (await slow.attempts()).length > 0);
    slow.subscribe('strict', { strictOrder: true, version: 2 });
    await until(async () => (await slow.committedOffset()) === 3);
    await slow.stop();
    expect(made.map(({ delivery, attempt }) => `${delivery.eventId} ${String(attempt)}`)).toEqual([
      'event-1 1',
      'event-1 2',
      'event-2 1',
      'event-3 1',
    ]);
  });

  it('is the same after a pause, in which all but the first delivery had left memory (R-16)', async () => {
    const slow = await SenderHarness.create();
    slow.subscribe('strict', { strictOrder: true });
    for (let n = 1; n <= 3; n++) slow.publish(n, 'strict', 'one device');
    const made = await slow.start(({ delivery, attempt }) =>
      delivery.eventId === 'event-1' && attempt === 1 ? unavailable : ok,
    );
    await until(async () => (await slow.attempts()).length > 0);
    slow.subscribe('strict', { strictOrder: true, status: 'paused', version: 2 });
    await until(() => slow.pending === 1);
    slow.subscribe('strict', { strictOrder: true, version: 3 });
    slow.publish(4, 'strict', 'one device');
    await until(() => made.some(({ delivery }) => delivery.eventId === 'event-4'));
    await slow.stop();
    expect(made.map(({ delivery, attempt }) => `${delivery.eventId} ${String(attempt)}`)).toEqual([
      'event-1 1',
      'event-1 2',
      'event-2 1',
      'event-3 1',
      'event-4 1',
    ]);
  });

  it('holds from then on for what has not begun, too: it starts one after the other', async () => {
    // The rate lets the second one begin in 20 s.
    const slow = await SenderHarness.create({ speed: 0.05 });
    slow.subscribe('free', { rateLimitPerSecond: 1 });
    for (let n = 1; n <= 5; n++) slow.publish(n, 'free', n === 3 ? 'another device' : 'one device');
    const answers: (() => void)[] = [];
    const answer = () => new Promise<typeof ok>((resolve) => answers.push(() => resolve(ok)));
    const made = await slow.start(answer);
    const started = (): string[] => made.map(({ delivery }) => delivery.eventId);
    await until(() => slow.pending === 5 && answers.length === 1);
    slow.subscribe('free', { strictOrder: true });
    const expected = ['event-1', 'event-3', 'event-2', 'event-4', 'event-5'];
    expect(started()).toEqual(expected.slice(0, 2));
    for (const [i] of expected.entries()) {
      await until(() => answers.length > i);
      answers[i]?.();
    }
    await until(async () => (await slow.attempts()).length === 5);
    expect(started()).toEqual(expected);
    await slow.stop();
  });

  it('holds from then on for what is paused: it starts one after the other once it is active (R-16)', async () => {
    const slow = await SenderHarness.create();
    slow.subscribe('free');
    for (let n = 1; n <= 3; n++) slow.publish(n, 'free', 'one device');
    let isPaused = false;
    const numbers: string[] = [];
    const waiting: (() => void)[] = [];
    const run = async ({ delivery }: AttemptRequest): Promise<AttemptRun> => {
      numbers.push(delivery.eventId);
      await new Promise<void>((resolve) => waiting.push(resolve));
      if (isPaused) return { type: 'paused' };
      const about = { url: 'https://example.org/', auth: 'none', discardToken: () => undefined } as const;
      return { type: 'ended', ...about, result: ok };
    };
    await slow.start(undefined, { runner: { run } });
    await until(() => waiting.length === 3);
    isPaused = true;
    slow.subscribe('free', { status: 'paused' });
    for (const go of waiting.splice(0)) go();
    await until(() => slow.reserved === 0);
    slow.subscribe('free', { status: 'paused', strictOrder: true });
    isPaused = false;
    slow.subscribe('free', { strictOrder: true });
    await until(() => waiting.length > 0);
    expect(numbers.slice(3)).toEqual(['event-1']);
    for (let n = 0; n < 3; n++) {
      await until(() => waiting.length > 0);
      waiting.shift()?.();
    }
    await until(async () => (await slow.attempts()).length === 3);
    expect(numbers.slice(3)).toEqual(['event-1', 'event-2', 'event-3']);
    await slow.stop();
  });

  it('holds for what a pause held when one change ends the pause and asks for order', async () => {
    // The rate lets the second one begin in 20 s.
    const slow = await SenderHarness.create({ speed: 0.05 });
    slow.subscribe('free', { rateLimitPerSecond: 1 });
    for (let n = 1; n <= 4; n++) slow.publish(n, 'free', 'one device');
    const answers: (() => void)[] = [];
    const made = await slow.start(() => new Promise<typeof ok>((resolve) => answers.push(() => resolve(ok))));
    await until(() => slow.pending === 4 && answers.length === 1);
    slow.subscribe('free', { status: 'paused', rateLimitPerSecond: 1 });
    slow.subscribe('free', { strictOrder: true });
    for (let n = 1; n <= 4; n++) {
      await until(() => answers.length >= n);
      expect(made).toHaveLength(n);
      answers[n - 1]?.();
    }
    await until(async () => (await slow.attempts()).length === 4);
    expect(made.map(({ delivery }) => delivery.eventId)).toEqual(['event-1', 'event-2', 'event-3', 'event-4']);
    await slow.stop();
  });

  it('is over when its subscription is disabled: what has not begun ends at once (R-16)', async () => {
    const slow = await SenderHarness.create();
    slow.subscribe('strict', { strictOrder: true });
    for (let n = 1; n <= 3; n++) slow.publish(n, 'strict', 'one device');
    await slow.start(() => unavailable);
    await until(async () => slow.pending === 3 && (await slow.attempts()).length === 1);
    slow.subscribe('strict', { strictOrder: true, status: 'disabled' });
    const ended = async (): Promise<string[]> =>
      (await slow.attempts()).filter(({ attempt }) => attempt === 1).map(({ eventId }) => eventId);
    await until(async () => (await ended()).length === 3);
    expect((await slow.attempts()).filter(({ eventId }) => eventId === 'event-1')).toHaveLength(1);
    await slow.stop();
  });

  it('is over when its subscription is deleted: what waits ends at once, and does not wait for retries', async () => {
    const slow = await SenderHarness.create();
    slow.subscribe('strict', { strictOrder: true });
    for (let n = 1; n <= 3; n++) slow.publish(n, 'strict', 'one device');
    const made = await slow.start(() => unavailable);
    await until(async () => slow.pending === 3 && (await slow.attempts()).length === 1);
    slow.unsubscribe('strict');
    expect(made.map(({ delivery }) => delivery.eventId)).toEqual(['event-1', 'event-2', 'event-3']);
    await slow.stop();
  });

  it('holds in every interleaving: no event of a device starts before its predecessor is finished', async () => {
    for (let n = 1; n <= 60; n++) harness.publish(n, 'strict', `device-${String(n % 4)}`);
    await harness.start(({ delivery }) => (Number(delivery.eventId.slice(6)) % 7 === 0 ? unavailable : ok), {
      limits: { perSubscription: 9 },
    });
    await until(async () => (await harness.attempts()).filter(({ outcome }) => outcome !== 'retrying').length >= 60);
    const lastEnd = new Map<string, number>();
    const attempts = await harness.attempts();
    for (const { deviceId, deliveryOffset, outcome } of attempts) {
      expect(deliveryOffset).toBeGreaterThanOrEqual(lastEnd.get(deviceId) ?? -1);
      if (outcome !== 'retrying') lastEnd.set(deviceId, deliveryOffset + 1);
    }
    expect(attempts.filter(({ outcome }) => outcome !== 'retrying')).toHaveLength(60);
  });
});
