import { describe, expect, it } from '@jest/globals';
import type { RecordBatch, StreamRecord } from '../record.js';
import { CulpritSearch } from './culprit-search.js';

describe('the search for the record that a partition fails at', () => {
  it('finds it by halves, when only the failure of a whole batch is known', () => {
    const search = new CulpritSearch();
    const culprit = 613;
    const handled: number[] = [];
    let position = 0;
    for (let attempt = 0; attempt < 20; attempt++) {
      const records = Array.from({ length: 1_000 - position }, (_, i) => ({ offset: position + i })) as StreamRecord[];
      const batch = { topic: 't', partition: 0, records, nextOffset: 1_000, highWatermark: 0, lastStableOffset: 0 };
      search.reset();
      for (const part of search.parts(batch, position)) {
        if (part.records.some(({ offset }) => offset === culprit)) break;
        handled.push(...part.records.map(({ offset }) => offset));
        position = part.nextOffset;
      }
      const found = search.narrow(null);
      if (found === 'again') continue;
      expect([found, position, handled.length]).toEqual([culprit, culprit, culprit]);
      return;
    }
    throw new Error('It was not found.');
  });

  const batchOf = (from: number, nextOffset: number): RecordBatch => ({
    topic: 't',
    partition: 0,
    records: Array.from({ length: nextOffset - from }, (_, i) => ({ offset: from + i })) as StreamRecord[],
    nextOffset,
    highWatermark: 0,
    lastStableOffset: 0,
  });
  const sizes = (search: CulpritSearch, batch: RecordBatch, position: number): number[] =>
    [...search.parts(batch, position)].map(({ records }) => records.length);

  it('tries what comes before a known record at once, also of earlier batches that are not committed', () => {
    const search = new CulpritSearch();
    expect([sizes(search, batchOf(0, 500), 0), sizes(search, batchOf(500, 1_000), 500)]).toEqual([[500], [500]]);
    expect(search.narrow(503)).toBe('again');
    search.reset();
    expect([sizes(search, batchOf(0, 500), 0), sizes(search, batchOf(500, 1_000), 500)]).toEqual([[500], [3, 497]]);
    expect(search.isOn).toBe(false);
  });

  it('does so when the record is the first of its batch, too', () => {
    const search = new CulpritSearch();
    expect([sizes(search, batchOf(0, 500), 0), sizes(search, batchOf(500, 1_000), 500)]).toEqual([[500], [500]]);
    expect(search.narrow(500)).toBe('again');
    search.reset();
    expect(sizes(search, batchOf(0, 500), 0)).toEqual([500]);
    expect([search.isOn, search.isToCommit(499), search.isToCommit(500)]).toEqual([true, false, true]);
    search.reset();
    search.parts(batchOf(500, 1_000), 500).next();
    expect(search.narrow(500)).toBe(500);
  });

  it('accepts a record that is named again when it has been passed: its work had been put off', () => {
    const search = new CulpritSearch();
    const attempt = () => {
      search.reset();
      sizes(search, batchOf(0, 500), 0);
      search.reset();
      sizes(search, batchOf(500, 1_000), 500);
      return search.narrow(3);
    };
    expect([attempt(), attempt()]).toEqual(['again', 3]);
  });
});
