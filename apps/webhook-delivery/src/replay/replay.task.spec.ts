import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type StreamsBackend, StreamsError } from '@waypost/streams';
import type { Fetcher, TransactionalProducer } from '@waypost/streams/admin';
import { countFetchers } from '../../../../test/support/open-fetchers.js';
import { holdsFor, until } from '../../../../test/support/until.js';
import {
  attemptOf,
  ATTEMPTS,
  DELIVERIES,
  openReplayHarness,
  range,
  type ReplayHarness,
  START,
  SUBSCRIPTION,
} from './testing/replay-harness.js';

let stage: ReplayHarness;

beforeEach(async () => {
  stage = await openReplayHarness();
});
afterEach(async () => {
  await stage.close();
  expect(stage.fatal).toEqual([]);
});

describe('the replayer', () => {
  it('continues after each restart where the last transaction ended, without loss or repetition', async () => {
    for (const n of range(0, 400)) stage.sent(n, n % 3 === 0 ? { outcome: 'failed', statusCode: 400 } : {});
    stage.ask({ status: 'delivered', ratePerSecond: 400 });
    for (let restarts = 0; (await stage.progressOf())?.state !== 'completed'; restarts++) {
      if (restarts > 20) throw new Error('it does not come to an end');
      const before = (await stage.replayed()).length;
      const replayer = await stage.startReplayer();
      await until(
        async () => (await stage.replayed()).length > before || (await stage.progressOf())?.state === 'completed',
      );
      await replayer.stop();
    }
    const expected = range(0, 400).filter((n) => n % 3 !== 0);
    expect(await stage.numbers()).toEqual(expected);
    expect(await stage.progressOf()).toMatchObject({ matched: expected.length, sent: expected.length });
  });

  it('has a producer id of its own for each partition, since a second producer of the same id fences the first', async () => {
    const ids: string[] = [];
    const noting = (backend: StreamsBackend) =>
      Object.create(backend, {
        producer: {
          value: (id: string) => {
            ids.push(id);
            return backend.producer(id);
          },
        },
      }) as StreamsBackend;
    await stage.startReplayer({ through: noting });
    stage.ask();
    await stage.ended('completed');
    expect(ids).toEqual(['webhook-delivery.replayer.0']);
  });

  it('leaves no connection to the brokers behind when it stops', async () => {
    let fetchers = { made: 0, open: 0 };
    for (const n of range(0, 3)) stage.sent(n, { outcome: 'failed' });
    stage.ask({ status: 'failed' });
    const through = (backend: StreamsBackend) => {
      fetchers = countFetchers(backend);
      return backend;
    };
    await stage.startReplayer({ through });
    await stage.ended('completed');
    await stage.close();
    expect(fetchers.made).toBeGreaterThan(3);
    expect(fetchers.open).toBe(0);
  });

  it('fences a predecessor that still writes', async () => {
    for (const n of range(0, 60)) stage.sent(n);
    stage.ask({ ratePerSecond: 60 });
    await stage.startReplayer();
    await until(async () => (await stage.replayed()).length > 0);
    // The same place in the group: from now on the first one's producer is refused.
    await stage.startReplayer();
    await stage.ended('completed');
    expect(await stage.numbers()).toEqual(range(0, 60));
  });

  it('makes no subscription wait for the replays of another, and runs one per subscription at a time', async () => {
    for (const n of range(0, 40)) stage.sent(n);
    stage.sent(40, {}, { subscriptionId: 'other' });
    stage.subscriptions.set('other', 'active');
    stage.ask({ ratePerSecond: 20 });
    stage.ask({ replayId: 'replay-2', series: 2 });
    stage.ask({ replayId: 'replay-3', subscriptionId: 'other', series: 1 });
    await stage.startReplayer();
    await stage.ended('completed', 'replay-3');
    expect(await stage.progressOf()).toMatchObject({ state: 'running' });
    expect(await stage.progressOf('replay-2')).toBeUndefined();
    await stage.ended('completed', 'replay-2');
    const series = (await stage.replayed()).filter(({ replayId }) => replayId !== 'replay-3').map((one) => one.series);
    expect(series).toEqual([...series].sort((a, b) => a - b));
  });

  it.each(['completed', 'cancelled'])(
    'does not send again what an earlier replay, which was %s, has written and is not attempted yet (R-30)',
    async (state) => {
      for (const n of range(0, 30)) stage.sent(n, { outcome: n < 20 ? 'failed' : 'delivered' });
      stage.brokerTime = Date.now();
      const first = stage.ask({ status: 'failed', ratePerSecond: state === 'completed' ? 10_000 : 10 });
      const replayer = await stage.startReplayer();
      await until(async () => (await stage.replayed()).length > 0);
      if (state === 'cancelled') stage.ask({ ...first, version: 2, cancelled: true });
      await stage.ended(state);
      // One of them has failed again.
      const [failed] = await stage.replayed();
      if (failed === undefined) throw new Error('Nothing was written.');
      stage.attempted(attemptOf(failed, 30, { outcome: 'failed' }));
      stage.ask({ replayId: 'replay-2', series: 2, status: 'failed' });
      await stage.ended('completed', 'replay-2');
      const numbers = await stage.numbers();
      expect(numbers.toSorted((a, b) => a - b)).toEqual([0, ...range(0, 20)]);
      await replayer.stop();
    },
  );

  it.each([{ status: 'failed' }, { statusCode: 503 }])(
    'finds after a restart what an earlier replay of %j has written (R-30)',
    async (asked) => {
      for (const n of range(0, 3)) stage.sent(n, { outcome: 'failed', statusCode: 503 });
      stage.brokerTime = Date.now();
      stage.ask(asked);
      const replayer = await stage.startReplayer();
      await stage.ended('completed');
      await replayer.stop();
      stage.ask({ replayId: 'replay-2', series: 2, ...asked });
      await stage.startReplayer();
      await stage.ended('completed', 'replay-2');
      expect(await stage.numbers()).toEqual([0, 1, 2]);
    },
  );

  it('ends one that was cancelled while no replayer ran, though an older one of its subscription waits (R-30)', async () => {
    stage.sent(0);
    stage.ask();
    stage.subscriptions.set(SUBSCRIPTION, 'paused');
    const later = stage.ask({ replayId: 'replay-2', series: 2 });
    stage.ask({ ...later, version: 2, cancelled: true });
    await stage.startReplayer();
    await stage.ended('cancelled', 'replay-2');
    expect((await stage.progressOf('replay-1'))?.state).not.toBe('completed');
  });

  it('lets no replay of a paused subscription keep a place that another replay can use (R-26)', async () => {
    const paused = range(0, 8).map((n) => `paused ${String(n)}`);
    for (const [n, id] of paused.entries()) {
      stage.subscriptions.set(id, 'paused');
      stage.sent(n, {}, { subscriptionId: id, fleetId: 'other' });
      stage.ask({ replayId: `replay of ${id}`, subscriptionId: id, fleetId: 'other' });
    }
    stage.sent(8);
    // No time slice ends while this test runs.
    const startedAt = Date.now();
    await stage.startReplayer({ now: () => startedAt + Math.floor((Date.now() - startedAt) / 1_000) });
    for (const id of paused) await until(async () => (await stage.progressOf(`replay of ${id}`))?.matched === 1);
    stage.ask();
    await stage.ended('completed');
    for (const id of paused) stage.subscriptions.set(id, 'active');
    await stage.allDone();
    expect((await stage.numbers()).sort()).toEqual(range(0, 9));
  });

  it('keeps the place of a replay that waits for its rate, and does not read the log again for each portion (R-26)', async () => {
    const ids = range(0, 12).map((n) => `subscription ${String(n)}`);
    for (const [n, id] of ids.entries()) {
      stage.subscriptions.set(id, 'active');
      for (const delivery of range(30 * n, 30 * n + 30)) stage.sent(delivery, {}, { subscriptionId: id });
      stage.ask({ replayId: `replay of ${id}`, subscriptionId: id, ratePerSecond: 80 });
    }
    let opened = 0;
    // At a quarter of the speed, so that no time slice ends here.
    const startedAt = Date.now();
    await stage.startReplayer({
      now: () => startedAt + Math.floor((Date.now() - startedAt) / 4),
      through: (backend) =>
        Object.create(backend, {
          fetcher: { value: () => ((opened += 1), backend.fetcher()) },
        }) as StreamsBackend,
    });
    await stage.allDone();
    expect((await stage.numbers()).sort((a, b) => a - b)).toEqual(range(0, 360));
    // One to select and one to write, and what the task itself reads.
    expect(opened).toBeLessThan(2 * ids.length + 6);
  });

  it('completes every replay although each had to yield before it had written anything', async () => {
    const ids = range(0, 9).map((n) => `subscription ${String(n)}`);
    for (const [n, id] of ids.entries()) {
      stage.subscriptions.set(id, 'active');
      stage.sent(n, {}, { subscriptionId: id });
      stage.ask({ replayId: `replay of ${id}`, subscriptionId: id });
    }
    let looks = 0;
    // A time slice passes at each look at the clock, at first.
    await stage.startReplayer({ now: () => Date.now() + 3_000 * Math.min(++looks, 200) });
    await stage.allDone();
    expect((await stage.numbers()).sort()).toEqual(range(0, 9));
    for (const id of ids) expect(await stage.progressOf(`replay of ${id}`)).toMatchObject({ matched: 1, sent: 1 });
  });

  it('counts the replays that are unfinished, in its partitions alone', async () => {
    stage.subscriptions.set(SUBSCRIPTION, 'paused');
    stage.sent(0);
    stage.ask();
    stage.ask({ replayId: 'replay-2', series: 2 });
    const replayer = await stage.startReplayer();
    await until(async () => (await stage.progressOf())?.matched === 1);
    expect(stage.unfinished).toBe(2);
    await replayer.stop();
    expect(stage.unfinished).toBe(0);
    stage.subscriptions.set(SUBSCRIPTION, 'active');
    await stage.startReplayer();
    await stage.allDone();
    expect(stage.unfinished).toBe(0);
  });

  it('commits a position that passes a replay only when it is over', async () => {
    stage.sent(0);
    stage.forget('gone');
    stage.ask({ ratePerSecond: 2 });
    await stage.startReplayer();
    await until(async () => (await stage.committed()) === 1);
    await stage.ended('completed');
    await until(async () => (await stage.committed()) === 2);
  });

  it('forgets a replay and its progress when its record is deleted', async () => {
    for (const n of range(0, 50)) stage.sent(n);
    stage.ask({ ratePerSecond: 10 });
    await stage.startReplayer();
    await until(async () => (await stage.replayed()).length > 0);
    stage.forget('replay-1');
    await until(async () => (await stage.progress()).at(-1) === null);
    const written = (await stage.replayed()).length;
    await holdsFor(300, async () => {
      expect(await stage.replayed()).toHaveLength(written);
    });
    expect((await stage.progress()).at(-1)).toBeNull();
    await stage.allDone();
  });

  it('ignores an older version that is published again', async () => {
    for (const n of range(0, 50)) stage.sent(n);
    const replay = stage.ask({ cancelled: true, version: 2 });
    await stage.startReplayer();
    await stage.ended('cancelled');
    stage.ask({ ...replay, cancelled: false, version: 1 });
    await stage.allDone();
    await holdsFor(50, async () => {
      expect(await stage.replayed()).toEqual([]);
    });
  });
});

describe('the replayer at a batch that cannot be decoded', () => {
  const HOUR_MS = 3_600_000;
  const later = { startDate: START + HOUR_MS, endDate: START + 2 * HOUR_MS };
  let isDamaged = true;
  let passedMs = 0;

  /** The first record of a log is in a damaged batch. */
  const damaged = (log: { readonly topic: string }) => (backend: StreamsBackend) =>
    Object.create(backend, {
      fetcher: {
        value: (): Fetcher => {
          const fetcher = backend.fetcher();
          const open: Fetcher['open'] = (place, from) => {
            const feed = fetcher.open(place, from);
            const fails = () => isDamaged && place.topic === log.topic && from === 0;
            const failure = new StreamsError('CORRUPT_BATCH', 'The checksum is wrong.', { offset: 0 });
            return {
              ...feed,
              next: () => (fails() ? Promise.reject(failure) : feed.next()),
              close: () => feed.close(),
            };
          };
          return { open, close: () => fetcher.close() };
        },
      },
    }) as StreamsBackend;

  beforeEach(() => {
    isDamaged = true;
    passedMs = 0;
    stage.sent(0);
    stage.brokerTime += HOUR_MS;
    for (const subscriptionId of [SUBSCRIPTION, 'other'])
      stage.sent(1, { firstAttemptAt: START + HOUR_MS }, { subscriptionId });
    stage.subscriptions.set('other', 'active');
  });

  const start = (log: { readonly topic: string }) =>
    stage.startReplayer({ now: () => Date.now() + passedMs, through: damaged(log) });
  const isSetAside = () => stage.errors.includes('replay_set_aside');

  it.each([ATTEMPTS, DELIVERIES])(
    'sets aside the replay that needs it, runs those of others, and tries again later, in $topic (R-26)',
    async (log) => {
      const replayer = await start(log);
      stage.ask();
      await until(isSetAside);
      stage.ask({ replayId: 'replay-2', subscriptionId: 'other', ...later });
      // The replays of one subscription run one after the other.
      stage.ask({ replayId: 'replay-3', series: 2, ...later });
      await stage.ended('completed', 'replay-2');
      expect(replayer.tasks()).toMatchObject([{ state: 'running', parked: null }]);
      expect(await stage.progressOf('replay-3')).toBeUndefined();
      isDamaged = false;
      passedMs = 5 * 60_000;
      await stage.allDone();
      expect(stage.errors).toEqual(['replay_set_aside']);
      const replayed = (await stage.replayed()).map(({ replayId, eventId }) => `${String(replayId)} ${eventId}`);
      expect(replayed).toEqual(['replay-2 event-1', 'replay-1 event-0', 'replay-3 event-1']);
    },
  );

  it('reads no attempts any more once the replay that is set aside is deleted', async () => {
    let fetchers = { made: 0, open: 0 };
    const through = (backend: StreamsBackend) => {
      fetchers = countFetchers(backend);
      return damaged(ATTEMPTS)(backend);
    };
    await stage.startReplayer({ through });
    await stage.allDone();
    const { open } = fetchers;
    stage.ask();
    await until(() => isSetAside() && fetchers.open === open + 1);
    stage.forget('replay-1');
    await until(() => fetchers.open === open);
  });

  it('cancels the replay that is set aside', async () => {
    await start(ATTEMPTS);
    const replay = stage.ask();
    await until(isSetAside);
    stage.ask({ ...replay, version: 2, cancelled: true });
    await stage.ended('cancelled');
    expect(stage.errors).toEqual(['replay_set_aside']);
  });
});

describe('the replayer under failing commits', () => {
  /** Every so often a commit fails, half of the time after it has taken effect. */
  const failingNow = (random: () => number) => (backend: StreamsBackend) =>
    Object.create(backend, {
      producer: {
        value: (id: string): TransactionalProducer => {
          const producer = backend.producer(id);
          const commit: TransactionalProducer['commit'] = async (transaction) => {
            const roll = random();
            if (roll < 0.1) throw new StreamsError('PRODUCER_FAILED', 'before');
            const offsets = await producer.commit(transaction);
            if (roll < 0.2) throw new StreamsError('PRODUCER_FAILED', 'after');
            return offsets;
          };
          return { init: () => producer.init(), commit, close: () => producer.close() };
        },
      },
    }) as StreamsBackend;

  it('loses nothing and repeats nothing, of any replay', async () => {
    for (const n of range(0, 600)) stage.sent(n);
    for (const n of range(600, 700)) stage.sent(n, {}, { subscriptionId: 'other' });
    stage.subscriptions.set('other', 'active');
    stage.ask({ ratePerSecond: 2_000 });
    stage.ask({ replayId: 'replay-2', series: 2, ratePerSecond: 2_000 });
    stage.ask({ replayId: 'replay-3', subscriptionId: 'other', ratePerSecond: 500 });
    let seed = 7;
    const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    await stage.startReplayer({ through: failingNow(random) });
    await stage.allDone();
    const replayed = await stage.replayed();
    for (const [replayId, from, to] of [
      ['replay-1', 0, 600],
      ['replay-2', 0, 600],
      ['replay-3', 600, 700],
    ] as const) {
      const events = replayed.filter((delivery) => delivery.replayId === replayId).map(({ eventId }) => eventId);
      expect(events).toEqual(range(from, to).map((n) => `event-${String(n)}`));
    }
  });
});
