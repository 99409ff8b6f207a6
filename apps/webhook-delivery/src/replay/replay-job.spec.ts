import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { flushed, holdsFor, until } from '../../../../test/support/until.js';
import {
  attemptOf,
  deliveryOf,
  openReplayHarness,
  range,
  type ReplayHarness,
  START,
  SUBSCRIPTION,
} from './testing/replay-harness.js';

const HOUR_MS = 3_600_000;

let stage: ReplayHarness;

beforeEach(async () => {
  stage = await openReplayHarness();
});
afterEach(async () => {
  await stage.close();
  expect(stage.fatal).toEqual([]);
});

describe('a replay (R-30)', () => {
  it('writes the same events again with the same bytes, in the order of the log, as a separate series', async () => {
    for (const n of range(0, 3)) stage.sent(n);
    stage.ask({ series: 4 });
    await stage.startReplayer();
    await stage.ended('completed');
    const again = await stage.replayed();
    expect(again).toEqual(
      range(0, 3).map((n) => ({
        ...deliveryOf(n),
        series: 4,
        replayId: 'replay-1',
        createdAt: expect.any(Number),
      })),
    );
    for (const { createdAt } of again) expect(Math.abs(createdAt - Date.now())).toBeLessThan(10_000);
    expect(await stage.progressOf()).toMatchObject({ subscriptionId: SUBSCRIPTION, matched: 3, sent: 3 });
  });

  it('uses the first attempt as the time of a delivery: at or after the start, before the end', async () => {
    stage.sent(0, { firstAttemptAt: START - 1 });
    stage.sent(1, { firstAttemptAt: START, attempt: 2, startedAt: START + 90_000 });
    stage.sent(2, { firstAttemptAt: START + 59_999 });
    stage.sent(3, { firstAttemptAt: START + 60_000 });
    stage.ask();
    await stage.startReplayer();
    await stage.ended('completed');
    expect(await stage.numbers()).toEqual([1, 2]);
  });

  it('finds a first attempt of the window although the clock of the broker is up to a minute behind', async () => {
    stage.brokerTime = START - 3_600_000;
    stage.sent(0, { firstAttemptAt: START - 3_600_000 });
    stage.brokerTime = START - 60_000;
    stage.sent(1, { firstAttemptAt: START });
    stage.brokerTime = START;
    stage.sent(2, { firstAttemptAt: START });
    stage.ask();
    await stage.startReplayer();
    await stage.ended('completed');
    expect(await stage.numbers()).toEqual([1, 2]);
  });

  it.each([
    ['delivered', [0, 3]],
    ['failed', [1]],
    ['pending', [2]],
  ])('sends those again that stand %s when it begins', async (status, expected) => {
    stage.sent(0);
    stage.sent(1, { attempt: 2, outcome: 'failed', statusCode: 400 });
    stage.sent(2, { outcome: 'retrying', statusCode: 503, nextDueAt: START + 2_000 });
    stage.sent(3, { attempt: 2 });
    stage.ask({ status });
    await stage.startReplayer();
    await stage.ended('completed');
    expect(await stage.numbers()).toEqual(expected);
  });

  it('selects only its subscription, event type and device, and skips test events and earlier replays', async () => {
    stage.sent(0);
    stage.sent(1, {}, { subscriptionId: 'another' });
    stage.sent(2, {}, { eventType: 'ignition_on' });
    stage.sent(3, {}, { deviceId: 'device-2' });
    stage.sent(4, {}, { series: 1, replayId: 'earlier' });
    stage.sent(5, {}, { eventType: 'test' });
    stage.ask({ series: 2 });
    stage.ask({ replayId: 'replay-2', series: 3, eventType: 'ignition_on' });
    stage.ask({ replayId: 'replay-3', series: 4, deviceId: 'device-2' });
    await stage.startReplayer();
    await stage.ended('completed', 'replay-3');
    const found = (await stage.replayed()).filter(({ series }) => series > 1);
    expect(found.map(({ series, eventId }) => `${String(series)} ${eventId}`)).toEqual([
      ...['2 event-0', '2 event-2', '2 event-3', '3 event-2', '4 event-3'],
    ]);
  });

  it('asks for the outcome of the latest series: what an earlier replay delivered is not failed any more (R-30)', async () => {
    for (const n of [0, 1, 2]) stage.sent(n, { outcome: 'failed' });
    stage.ask({ status: 'failed', replayId: 'first' });
    await stage.startReplayer();
    await stage.ended('completed', 'first');
    const outcomes = ['delivered', 'failed', 'retrying'];
    for (const [index, again] of (await stage.replayed()).entries())
      stage.attempted(
        attemptOf(again, 10 + index, { outcome: outcomes[index] ?? '', firstAttemptAt: START + 3_600_000 }),
      );

    stage.ask({ status: 'failed', replayId: 'second', series: 2 });
    await stage.ended('completed', 'second');
    const second = (await stage.replayed()).filter(({ replayId }) => replayId === 'second');
    expect(second.map(({ eventId }) => eventId)).toEqual(['event-1']);
    expect(await stage.progressOf('second')).toMatchObject({ matched: 1, sent: 1 });
  });

  it('ends at once when nothing matches', async () => {
    stage.ask();
    await stage.startReplayer();
    await stage.ended('completed');
    expect(await stage.progressOf()).toMatchObject({ matched: 0, sent: 0 });
  });

  it('tells when it ended, which may be long after it began', async () => {
    let passedMs = 0;
    stage.sent(0);
    stage.subscriptions.set(SUBSCRIPTION, 'paused');
    stage.ask();
    await stage.startReplayer({ now: () => Date.now() + passedMs });
    await until(async () => (await stage.progressOf())?.matched === 1);
    passedMs = HOUR_MS;
    stage.subscriptions.set(SUBSCRIPTION, 'active');
    await stage.ended('completed');
    const progress = await stage.progressOf();
    expect((progress?.updatedAt ?? NaN) - (progress?.startedAt ?? NaN)).toBeGreaterThanOrEqual(HOUR_MS);
  });

  it('skips deliveries first attempted after it began', async () => {
    stage.sent(0);
    stage.ask({ ratePerSecond: 1 });
    await stage.startReplayer();
    await until(async () => (await stage.progressOf())?.matched === 1);
    stage.sent(1);
    await stage.ended('completed');
    expect(await stage.numbers()).toEqual([0]);
  });

  it('writes no faster than its rate', async () => {
    for (const n of range(0, 100)) stage.sent(n);
    const startedAt = Date.now();
    stage.ask({ ratePerSecond: 200 });
    await stage.startReplayer();
    await stage.ended('completed');
    // 100 at 200 a second, the first portion of 40 after 200 ms.
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(480);
    expect(await stage.numbers()).toEqual(range(0, 100));
  });

  it('stays close to the sender: more is written only when attempts end', async () => {
    for (const n of range(0, 30)) stage.sent(n);
    stage.ask();
    await stage.startReplayer({ maxUnsent: 8 });
    await until(async () => (await stage.replayed()).length === 8);
    await holdsFor(200, async () => {
      expect(await stage.replayed()).toHaveLength(8);
    });
    const first = await stage.replayed();
    for (const delivery of first.slice(0, 4)) {
      stage.attempted(attemptOf(delivery, 999));
    }
    for (const delivery of first.slice(4)) {
      const retrying = { outcome: 'retrying', statusCode: 503, nextDueAt: START };
      stage.attempted(attemptOf(delivery, 999, retrying));
    }
    await until(async () => (await stage.replayed()).length === 12);
    await holdsFor(150, async () => {
      expect(await stage.replayed()).toHaveLength(12);
    });
  });
});

describe('a cancelled replay', () => {
  it('stops soon and reports what was written', async () => {
    for (const n of range(0, 200)) stage.sent(n);
    const replay = stage.ask({ ratePerSecond: 50 });
    await stage.startReplayer();
    await until(async () => (await stage.replayed()).length > 0);
    stage.ask({ ...replay, cancelled: true, version: 2 });
    await stage.ended('cancelled');
    const written = (await stage.replayed()).length;
    expect(await stage.progressOf()).toMatchObject({ matched: 200, sent: written });
    expect(written).toBeLessThan(100);
    await holdsFor(300, async () => {
      expect(await stage.replayed()).toHaveLength(written);
    });
  });

  it('does not begin when it was cancelled first, and stays unchanged when it was over', async () => {
    stage.sent(0);
    stage.ask({ cancelled: true, version: 2 });
    const other = stage.ask({ replayId: 'replay-2', series: 2 });
    await stage.startReplayer();
    await stage.ended('cancelled');
    await stage.ended('completed', 'replay-2');
    stage.ask({ ...other, cancelled: true, version: 2 });
    await stage.allDone();
    await holdsFor(50, async () => {
      expect((await stage.progressOf('replay-2'))?.state).toBe('completed');
    });
    expect((await stage.replayed()).map(({ replayId }) => replayId)).toEqual(['replay-2']);
  });

  it('is not one whose subscription this process has not read yet', async () => {
    stage.sent(0);
    stage.subscriptions.delete(SUBSCRIPTION);
    stage.unread = async () => {
      await flushed();
      stage.subscriptions.set(SUBSCRIPTION, 'active');
    };
    stage.ask();
    await stage.startReplayer();
    await stage.allDone();
    expect(await stage.progressOf()).toMatchObject({ state: 'completed', sent: 1 });
  });

  it('ends a replay whose subscription is deleted, before or after it begins', async () => {
    for (const n of range(0, 50)) stage.sent(n);
    stage.ask({ ratePerSecond: 20 });
    stage.ask({ replayId: 'replay-2', subscriptionId: 'deleted' });
    await stage.startReplayer();
    await stage.ended('cancelled', 'replay-2');
    await until(async () => (await stage.replayed()).length > 0);
    stage.subscriptions.delete(SUBSCRIPTION);
    await stage.ended('cancelled');
    expect((await stage.replayed()).length).toBeLessThan(50);
  });
});

describe('a replay of a subscription that gets nothing at present (R-16)', () => {
  it.each(['paused', 'disabled'] as const)(
    'waits while it is %s, and continues when it is active again',
    async (status) => {
      for (const n of range(0, 60)) stage.sent(n);
      stage.ask({ ratePerSecond: 60 });
      await stage.startReplayer();
      await until(async () => (await stage.replayed()).length > 0);
      stage.subscriptions.set(SUBSCRIPTION, status);
      // One more portion may be on its way already.
      const written = await until(async () => {
        const { length } = await stage.replayed();
        await holdsFor(500, async () => {
          expect(await stage.replayed()).toHaveLength(length);
        });
        return length;
      });
      expect(written).toBeLessThan(60);
      stage.subscriptions.set(SUBSCRIPTION, 'active');
      await stage.ended('completed');
      expect(await stage.numbers()).toEqual(range(0, 60));
    },
  );
});
