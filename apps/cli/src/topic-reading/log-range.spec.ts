import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LOG_RETENTION_MS } from '@waypost/domain';
import { type RecordBatch, StreamRecord, type TopicPartition } from '@waypost/streams';
import type { Fetcher } from '@waypost/streams/admin';
import { type LogRange, type LogSource, readKeptSince, readLogRange } from './log-range.js';

/** A log position: a record, or something that only takes an offset (a marker, an aborted record, a compacted hole). */
type Slot = { readonly timestamp: number } | null;

/** A log in memory: each fetch brings at most `batchSize` positions; at the end a fetch waits forever. */
function build(partitions: readonly (readonly Slot[])[], batchSize = 2, starts: readonly number[] = []) {
  const open = { feeds: 0, fetchers: 0 };
  const slotsOf = ({ partition }: TopicPartition): readonly Slot[] => partitions[partition] ?? [];

  function nextBatch(partition: TopicPartition, position: number): Promise<RecordBatch> {
    const slots = slotsOf(partition);
    if (position >= slots.length) return new Promise(() => undefined);
    const nextOffset = Math.min(position + batchSize, slots.length);
    const records = slots.slice(position, nextOffset).flatMap((slot, index) => {
      const record = { offset: position + index, key: null, value: null };
      return slot === null ? [] : [StreamRecord.of({ ...record, timestamp: slot.timestamp })];
    });
    const ends = { highWatermark: slots.length, lastStableOffset: slots.length };
    return Promise.resolve({ ...partition, records, nextOffset, ...ends });
  }

  const fetcher: Fetcher = {
    open: (partition, start) => {
      let position = start;
      open.feeds += 1;
      return {
        next: async () => {
          const batch = await nextBatch(partition, position);
          position = batch.nextOffset;
          return batch;
        },
        close: () => void (open.feeds -= 1),
      };
    },
    close: () => Promise.resolve(void (open.fetchers -= 1)),
  };
  const source: LogSource = {
    partitionCount: () => Promise.resolve(partitions.length),
    startOffset: ({ partition }) => Promise.resolve(starts[partition] ?? 0),
    endOffset: (partition) => Promise.resolve(slotsOf(partition).length),
    offsetAt: (partition, timestamp) => {
      const found = slotsOf(partition).findIndex((slot) => slot !== null && slot.timestamp >= timestamp);
      return Promise.resolve(found < 0 ? null : found);
    },
    fetcher: () => {
      open.fetchers += 1;
      return fetcher;
    },
  };

  async function readOffsets(range: Partial<LogRange>, cleanup: 'delete' | 'compact' = 'delete'): Promise<string[]> {
    const offsets: string[] = [];
    const whole = { from: null, to: null, untilEnd: true, ...range };
    await readLogRange(source, { name: 't', cleanup }, partitions.length, whole, (batch) => {
      offsets.push(...batch.records.map((record) => `${String(batch.partition)}:${String(record.offset)}`));
      return Promise.resolve();
    });
    return offsets;
  }

  return { open, readOffsets, source };
}

function at(...timestamps: readonly number[]): Slot[] {
  return timestamps.map((timestamp) => ({ timestamp }));
}

describe('Since when a partition is whole', () => {
  it('is the time of its first record that is kept, but no younger than the retention, and always where it was not cut', async () => {
    const cut = [...at(10, 20), null, null, null, ...at(30, 40)];
    const { open, source } = build([at(10, 20), cut, at(10, 20), []], 2, [0, 2, 2]);
    const keptSince = (cutBefore: number): Promise<number[]> =>
      readKeptSince(source, { topic: 't', partitions: 4, nowMs: cutBefore + LOG_RETENTION_MS });
    expect(await keptSince(90)).toEqual([-Infinity, 30, 90, -Infinity]);
    expect(await keptSince(25)).toEqual([-Infinity, 25, 25, -Infinity]);
    expect(open).toEqual({ feeds: 0, fetchers: 0 });
  });
});

describe('Reading a range of a topic', () => {
  it('gives every record up to the end, one partition after the other', async () => {
    const { open, readOffsets } = build([at(10, 20, 30), [], at(15)]);
    expect(await readOffsets({})).toEqual(['0:0', '0:1', '0:2', '2:0']);
    expect(open).toEqual({ feeds: 0, fetchers: 0 });
  });

  it('ends though the last positions are transaction markers', async () => {
    const { readOffsets } = build([[...at(10), null, null, null]]);
    expect(await readOffsets({})).toEqual(['0:0']);
  });

  it('starts at a time by its offset, and stops before another', async () => {
    const { readOffsets } = build([at(10, 20, 30, 40, 50)]);
    expect(await readOffsets({ from: 20, to: 40 })).toEqual(['0:1', '0:2']);
    expect(await readOffsets({ from: 60 })).toEqual([]);
    expect(await readOffsets({ to: 999 })).toHaveLength(5);
  });

  it('continues where it was stopped, but no earlier than the range begins: the log may have been cut since', async () => {
    const { readOffsets } = build([at(10, 20, 30, 40)], 2, [2]);
    expect(await readOffsets({ positions: new Map([[0, 1]]) })).toEqual(['0:2', '0:3']);
    expect(await readOffsets({ positions: new Map([[0, 3]]) })).toEqual(['0:3']);
  });

  it('ends at a time also without --until-end', async () => {
    const { readOffsets } = build([at(10, 20, 30), at(15, 25)], 1);
    expect(await readOffsets({ untilEnd: false, to: 15 })).toEqual(['0:0']);
    expect(await readOffsets({ untilEnd: false, to: 30 })).toEqual(['0:0', '0:1', '1:0', '1:1']);
  });

  it('reads a compacted topic to its end, since its times do not rise', async () => {
    const { readOffsets } = build([at(10, 50, 20)]);
    for (const untilEnd of [true, false])
      expect(await readOffsets({ to: 40, untilEnd }, 'compact')).toEqual(['0:0', '0:1', '0:2']);
  });

  it('continues without an end until the reader of the records stops it', async () => {
    const { open, source } = build([at(10, 20), at(30)]);
    const enough = new Error('enough');
    const seen: number[] = [];
    const range = { from: null, to: null, untilEnd: false };
    const reading = readLogRange(source, { name: 't', cleanup: 'delete' }, 2, range, ({ partition }) => {
      seen.push(partition);
      return seen.length === 2 ? Promise.reject(enough) : Promise.resolve();
    });
    await expect(reading).rejects.toBe(enough);
    expect(seen.sort()).toEqual([0, 1]);
    expect(open.fetchers).toBe(0);
  });

  it('yields every record once when it is stopped anywhere and resumed while the log grows', async () => {
    const slot = fc.option(fc.constant({ timestamp: 1 }), { nil: null });
    const growth = fc.array(slot, { maxLength: 6 });
    const partition = fc.record({ before: growth, meanwhile: growth, later: growth });
    const log = fc.array(partition, { minLength: 1, maxLength: 3 });
    const sizes = fc.record({ batchSize: fc.integer({ min: 1, max: 5 }), batchesUntilStop: fc.integer({ max: 12 }) });
    await fc.assert(
      fc.asyncProperty(log, sizes, async (parts, { batchSize, batchesUntilStop }) => {
        const slots = parts.map(({ before }): Slot[] => [...before]);
        const { source } = build(slots, batchSize);
        const grow = (what: 'meanwhile' | 'later') => parts.forEach((part, index) => slots[index]?.push(...part[what]));
        const positions = new Map<number, number>();
        const seen: string[] = [];
        const stop = new Error('stopped');
        const read = (onTotal: () => void, limit: number): Promise<void> => {
          let batches = 0;
          const range = { from: null, to: null, untilEnd: true, positions: new Map(positions), onTotal };
          return readLogRange(source, { name: 't', cleanup: 'delete' }, parts.length, range, (batch) => {
            if ((batches += 1) > limit) return Promise.reject(stop);
            positions.set(batch.partition, batch.nextOffset);
            seen.push(...batch.records.map(({ offset }) => `${String(batch.partition)}:${String(offset)}`));
            return Promise.resolve();
          });
        };
        // The ends are fixed by now; later records lie beyond them, and fetches return them all the same.
        await read(() => grow('meanwhile'), batchesUntilStop).catch((error: unknown) => expect(error).toBe(stop));
        grow('later');
        await read(() => undefined, Infinity);
        const all = slots.flatMap((one, index) =>
          one.flatMap((slot, offset) => (slot === null ? [] : [`${String(index)}:${String(offset)}`])),
        );
        expect([...seen].sort()).toEqual(all.sort());
      }),
    );
  });

  it('yields exactly the records of the range, with any gaps between them', async () => {
    const slot = fc.option(fc.constant('record'), { nil: null });
    const log = fc.array(fc.array(slot, { maxLength: 12 }), { minLength: 1, maxLength: 3 });
    const bounds = fc.tuple(fc.integer({ min: 0, max: 13 }), fc.integer({ min: 0, max: 13 }));
    await fc.assert(
      fc.asyncProperty(log, bounds, fc.integer({ min: 1, max: 4 }), async (kinds, [from, to], batchSize) => {
        const partitions = kinds.map((slots) =>
          slots.map((kind, index) => (kind === null ? null : { timestamp: index })),
        );
        const expected = partitions.flatMap((slots, partition) =>
          slots.flatMap((one) =>
            one !== null && one.timestamp >= from && one.timestamp < to
              ? [`${String(partition)}:${String(one.timestamp)}`]
              : [],
          ),
        );
        expect(await build(partitions, batchSize).readOffsets({ from, to })).toEqual(expected);
      }),
    );
  });
});
