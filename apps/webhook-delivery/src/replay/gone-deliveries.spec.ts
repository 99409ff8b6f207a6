import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { topics } from '@waypost/contracts';
import type { StreamsBackend, TopicPartition } from '@waypost/streams';
import { until } from '../../../../test/support/until.js';
import { attemptOf, deliveryOf, openReplayHarness, type ReplayHarness } from './testing/replay-harness.js';

let stage: ReplayHarness;

beforeEach(async () => {
  stage = await openReplayHarness();
});

afterEach(async () => {
  await stage.close();
  expect(stage.fatal).toEqual([]);
});

/** A broker whose retention has deleted the deliveries before an offset, and none of their attempts. */
function keepingFrom(offset: number) {
  const isCut = ({ topic }: TopicPartition): boolean => topic === topics.webhookDeliveries.name;
  return (backend: StreamsBackend): StreamsBackend => {
    const startOffset = (log: TopicPartition) => (isCut(log) ? Promise.resolve(offset) : backend.startOffset(log));
    const fetcher: StreamsBackend['fetcher'] = () => {
      const whole = backend.fetcher();
      const open: typeof whole.open = (log, from) => {
        if (isCut(log) && from < offset) throw new Error(`The log begins at ${String(offset)}.`);
        return whole.open(log, from);
      };
      return { open, close: () => whole.close() };
    };
    return Object.assign(Object.create(backend) as StreamsBackend, { startOffset, fetcher });
  };
}

describe('a replay of deliveries that have left their log (R-30)', () => {
  it('sends them again with the same bytes, before the others, in the order of the log', async () => {
    // The first attempt of this delivery was logged after those of the others.
    stage.sent(0, { body: null, outcome: 'retrying', nextDueAt: 0 });
    for (const n of [1, 2, 3, 4]) stage.sent(n);
    stage.attempted(attemptOf(deliveryOf(0), 0));
    stage.sent(5, {}, { deviceId: 'another' });
    stage.ask({ deviceId: 'device-1' });
    await stage.startReplayer({ through: keepingFrom(3) });
    await stage.ended('completed');
    const its = { series: 1, replayId: 'replay-1', createdAt: expect.any(Number) as unknown };
    expect(await stage.replayed()).toEqual([0, 1, 2, 3, 4].map((n) => ({ ...deliveryOf(n), ...its })));
    expect(await stage.progressOf()).toMatchObject({ matched: 5, sent: 5 });
  });

  it('sends a single one again, of which nothing is left but its attempts', async () => {
    for (const n of [0, 1, 2]) stage.sent(n);
    stage.ask({ eventId: 'event-1' });
    await stage.startReplayer({ through: keepingFrom(3) });
    await stage.ended('completed');
    expect(await stage.numbers()).toEqual([1]);
  });

  it('sends each once, also those that do not fit in memory together', async () => {
    for (const n of [0, 1, 2, 3]) {
      const body = JSON.stringify({ text: String(n).repeat(3_000_000) });
      stage.sent(n, { body }, { body: '{}' });
    }
    stage.ask();
    await stage.startReplayer({ through: keepingFrom(4) });
    await stage.ended('completed');
    expect((await stage.replayed()).map(({ body }) => [body.length, body[10]])).toEqual(
      ['0', '1', '2', '3'].map((digit) => [3_000_011, digit]),
    );
  });

  it('goes on after a restart with those that are not written yet', async () => {
    for (let n = 0; n < 6; n++) stage.sent(n);
    stage.ask();
    await stage.startReplayer({ through: keepingFrom(4), maxUnsent: 2 });
    await until(async () => (await stage.numbers()).length === 2);
    // Meanwhile more have gone.
    await stage.startReplayer({ through: keepingFrom(5) });
    await stage.ended('completed');
    expect(await stage.numbers()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await stage.progressOf()).toMatchObject({ matched: 6, sent: 6 });
  });
});
