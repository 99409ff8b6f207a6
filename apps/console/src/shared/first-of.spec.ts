import { describe, expect, it } from '@jest/globals';
import { firstOf } from './first-of.js';

/** Pages of two, under the token of either form. */
async function* pagesOf(length: number, token: string, read: number[]) {
  for (let first = 1; first <= length; first += 2) {
    read.push(first);
    const data = first === length ? [first] : [first, first + 1];
    yield await Promise.resolve({ data, [token]: first + 1 < length ? 'next' : null });
  }
}

describe('the first of a list', () => {
  it.each([
    [0, [], false],
    [3, [1, 2, 3], false],
    [4, [1, 2, 3, 4], false],
    [5, [1, 2, 3, 4], true],
    [9, [1, 2, 3, 4], true],
  ])(
    'of %d are those of as many pages as may be read, and say whether there are more',
    async (length, items, hasMore) => {
      for (const token of ['nextPageState', 'next_page_state']) {
        const read: number[] = [];
        expect(await firstOf(pagesOf(length, token, read), { pages: 2 })).toEqual({ items, hasMore });
        expect(read.length).toBeLessThanOrEqual(2);
      }
    },
  );

  it.each([
    [2, [1, 2], false, [1]],
    [3, [1, 2, 3], false, [1, 3]],
    [4, [1, 2, 3], true, [1, 3]],
    [9, [1, 2, 3], true, [1, 3]],
  ])('of %d are as many as were asked for, however short the pages are', async (length, items, hasMore, pages) => {
    const read: number[] = [];
    expect(await firstOf(pagesOf(length, 'nextPageState', read), { items: 3 })).toEqual({ items, hasMore });
    expect(read).toEqual(pages);
  });

  it('are those of twenty pages at most', async () => {
    const read: number[] = [];
    const { items, hasMore } = await firstOf(pagesOf(100, 'nextPageState', read), { items: 1_000 });
    expect([items.length, hasMore, read.length]).toEqual([40, true, 20]);
  });
});
