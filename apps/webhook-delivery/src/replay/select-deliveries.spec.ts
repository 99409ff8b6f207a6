import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createAvroCodecs } from '@waypost/contracts';
import type { WebhookAttempt, WebhookReplay } from '@waypost/domain';
import type { StreamsBackend } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { DeliveryMarks, DeliverySelecting } from './select-deliveries.js';
import { attemptOf, deliveryOf, replayOf } from './testing/replay-harness.js';

const offset = fc.oneof(fc.nat({ max: 3_000 }), fc.integer({ min: 2 ** 40, max: 2 ** 40 + 2_000 }));

describe('the marks of deliveries', () => {
  it('remember the last mark of each offset, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(offset, fc.boolean()), { maxLength: 300 }), (marked) => {
        const marks = new DeliveryMarks();
        const expected = new Map<number, boolean>();
        for (const [at, isSelected] of marked) {
          marks.mark(at, isSelected);
          expected.set(at, isSelected);
        }
        const offsets = [...expected].filter(([, isSelected]) => isSelected).map(([at]) => at);
        const selection = marks.selection();
        expect(selection.matched).toBe(offsets.length);
        expect(selection.first).toBe(offsets.length === 0 ? -1 : Math.min(...offsets));
        expect(selection.last).toBe(offsets.length === 0 ? -1 : Math.max(...offsets));
        for (const [at, isSelected] of expected) expect(selection.has(at)).toBe(isSelected);
        for (let at = 0; at < 3_000; at += 7) expect(selection.has(at)).toBe(expected.get(at) === true);
      }),
      { numRuns: 50 },
    );
  });

  it('become the selection of a replay that spans 100 million deliveries in a fraction of a second (R-22)', () => {
    const marks = new DeliveryMarks();
    for (let at = 0; at < 100_000_000; at += 2_000) marks.mark(at, true);
    const before = process.cpuUsage();
    expect(marks.selection()).toMatchObject({ matched: 50_000, first: 0, last: 99_998_000 });
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
  });
});

/** A selection over a log that is delivered in batches. Of a longer log than `attempts` no more is ever delivered. */
async function selectFrom(
  attempts: readonly WebhookAttempt[],
  replay: WebhookReplay,
  {
    logEnd = attempts.length,
    batchRecords = 1,
    ...more
  }: { readonly logEnd?: number; readonly batchRecords?: number; readonly eventsAtOnce?: number } = {},
) {
  const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.webhookAttempts.prepare();
  const read: number[] = [];
  let start = 0;
  const feedFrom = (position: number) => {
    let nextOffset = position;
    const next = () => {
      if (nextOffset < start) return Promise.reject(new Error('The record was deleted.'));
      const records = attempts.slice(nextOffset, nextOffset + batchRecords).map((attempt) => {
        const offset = nextOffset++;
        read.push(offset);
        return { offset, key: Buffer.from(attempt.subscriptionId), value: codecs.webhookAttempts.encode(attempt) };
      });
      return records.length === 0 ? new Promise(() => undefined) : Promise.resolve({ records, nextOffset });
    };
    return { next };
  };
  const backend = {
    offsetAt: () => Promise.resolve(0),
    startOffset: () => Promise.resolve(start),
    fetcher: () => ({
      open: (_log: unknown, position: number) => feedFrom(position),
      close: () => Promise.resolve(),
    }),
  };
  const deps = { backend: backend as unknown as StreamsBackend, codecs, partition: 0 };
  const selecting = new DeliverySelecting(deps, replay, { attemptsEnd: logEnd, replayedFrom: null, ...more });
  return {
    selecting,
    advance: (mayContinue: () => boolean) => selecting.advance(mayContinue, new AbortController().signal),
    read,
    /** As retention does. */
    deleteBefore: (offset: number): void => {
      start = offset;
    },
  };
}

describe('the selection of deliveries (R-30)', () => {
  const attempts = [0, 1, 2, 3].map((n) => attemptOf(deliveryOf(n), n));

  it('of one event ends with the first attempt of the event, however long the log is', async () => {
    const { advance, read } = await selectFrom(attempts, replayOf({ eventId: 'event-1' }), { logEnd: 1_000_000 });
    const selection = await advance(() => true);
    expect([selection?.matched, selection?.has(1)]).toEqual([1, true]);
    expect(read).toEqual([0, 1]);
  });

  it('ends where the replay began, also within a batch', async () => {
    const { advance, read } = await selectFrom(attempts, replayOf(), { logEnd: 2, batchRecords: 4 });
    expect(await advance(() => true)).toMatchObject({ matched: 2, first: 0, last: 1 });
    expect(read).toEqual([0, 1, 2, 3]);
  });

  it('continues with what retention has left when it has deleted the next records meanwhile', async () => {
    const { advance, read, deleteBefore } = await selectFrom(attempts, replayOf());
    expect(await advance(() => false)).toBeNull();
    deleteBefore(3);
    expect(await advance(() => true)).toMatchObject({ matched: 2, first: 0, last: 3 });
    expect(read).toEqual([0, 3]);
  });

  it('of one event by its status reads what became of it later', async () => {
    const again = attemptOf(deliveryOf(1, { series: 1 }), 4, { outcome: 'failed' });
    const { advance } = await selectFrom([...attempts, again], replayOf({ eventId: 'event-1', status: 'delivered' }));
    expect(await advance(() => true)).toMatchObject({ matched: 0 });
  });

  it('gives way when it has to, and goes on where it was', async () => {
    const again = attemptOf(deliveryOf(2, { series: 1 }), 4, { outcome: 'failed' });
    const { advance, read } = await selectFrom([...attempts, again], replayOf({ status: 'delivered', series: 2 }));
    const turns = [];
    for (let turn = 0; turn < 20 && turns.at(-1) == null; turn++) turns.push(await advance(() => false));
    expect(turns.at(-1)).toMatchObject({ matched: 3, first: 0, last: 3 });
    expect(turns).toHaveLength(11);
    expect(read).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  });

  it('goes by the status code of the last attempt, not of an earlier one', async () => {
    const answers = (n: number, ...codes: readonly (number | null)[]) =>
      codes.map((statusCode) => attemptOf(deliveryOf(n), n, { outcome: 'failed', statusCode }));
    const log = [...answers(0, 503), ...answers(1, 500, 503), ...answers(2, 503, 500), ...answers(3, 503, null)];
    const again = attemptOf(deliveryOf(0, { series: 1 }), 9, { outcome: 'failed', statusCode: 500 });
    const select = async (some: readonly WebhookAttempt[], given: Partial<WebhookReplay>) => {
      const { advance } = await selectFrom(some, replayOf({ series: 2, ...given }));
      const selection = await advance(() => true);
      return [0, 1, 2, 3].filter((n) => selection?.has(n));
    };
    expect(await select(log, { statusCode: 503 })).toEqual([0, 1]);
    expect(await select(log, { statusCode: 500 })).toEqual([2]);
    expect(await select(log, { statusCode: 503, status: 'delivered' })).toEqual([]);
    expect(await select([...log, again], { statusCode: 503 })).toEqual([1]);
    expect(await select([...log, again], { statusCode: 500 })).toEqual([0, 2]);
  });

  const replayedAttempt = fc.record({
    n: fc.nat({ max: 9 }),
    series: fc.nat({ max: 3 }),
    outcome: fc.constantFrom('delivered', 'failed'),
  });

  it('is the same however few of the replayed events are held at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(replayedAttempt, { maxLength: 40 }),
        fc.integer({ min: 1, max: 12 }),
        async (logged, eventsAtOnce) => {
          const all = [...Array.from({ length: 10 }, (_, n) => ({ n, series: 0, outcome: 'failed' })), ...logged];
          const log = all.map(({ n, series, outcome }) =>
            attemptOf(deliveryOf(n, { series }), 100 * series + n, { outcome }),
          );
          const { advance } = await selectFrom(log, replayOf({ status: 'failed', series: 4 }), { eventsAtOnce });
          const selection = await advance(() => true);
          const failed = all.slice(0, 10).filter(({ n }) => {
            const ofEvent = all.filter((attempt) => attempt.n === n);
            const latest = Math.max(...ofEvent.map(({ series }) => series));
            return ofEvent.findLast(({ series }) => series === latest)?.outcome === 'failed';
          });
          expect(all.slice(0, 10).filter(({ n }) => selection?.has(n))).toEqual(failed);
          expect(selection?.matched).toBe(failed.length);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('holds as many replayed events at a time as it may, of however many there are (R-26)', async () => {
    const originals = Array.from({ length: 2_000 }, (_, n) => attemptOf(deliveryOf(n), n));
    const again = originals.map(({ eventId }, n) => attemptOf(deliveryOf(n, { eventId, series: 1 }), 2_000 + n));
    const replay = replayOf({ status: 'delivered', series: 2 });
    const { advance, selecting } = await selectFrom([...originals, ...again], replay, { eventsAtOnce: 700 });
    let most = 0;
    const selection = await advance(() => {
      most = Math.max(most, selecting.bytes);
      return true;
    });
    expect(selection?.matched).toBe(2_000);
    const tableOf700 = 1_024 * 20;
    expect(most).toBeGreaterThanOrEqual(tableOf700);
    expect(most).toBeLessThan(tableOf700 + 2_048);
  });

  it('goes by the latest series where an earlier one is logged after it', async () => {
    const series = (n: number, outcome: string) => attemptOf(deliveryOf(0, { series: n }), 4, { outcome });
    const log = [attemptOf(deliveryOf(0), 0, { outcome: 'failed' }), series(2, 'delivered'), series(1, 'failed')];
    const { advance } = await selectFrom(log, replayOf({ status: 'failed', series: 3 }));
    expect(await advance(() => true)).toMatchObject({ matched: 0 });
  });
});
