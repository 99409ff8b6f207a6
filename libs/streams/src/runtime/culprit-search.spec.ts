import { describe, expect, it } from '@jest/globals';
import type { StreamRecord } from '../record.js';
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
});
