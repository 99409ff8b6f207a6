import { describe, expect, it } from '@jest/globals';
import { firstOf } from './first-of.js';

async function* list(length: number, read: number[]): AsyncGenerator<number, void> {
  for (let item = 1; item <= length; item++) {
    read.push(await Promise.resolve(item));
    yield item;
  }
}

describe('the first of a list', () => {
  it.each([
    [0, [], false],
    [2, [1, 2], false],
    [3, [1, 2, 3], false],
    [9, [1, 2, 3], true],
  ])('of %d are all up to the bound, and say whether there are more', async (length, items, hasMore) => {
    const read: number[] = [];
    expect(await firstOf(list(length, read), 3)).toEqual({ items, hasMore });
    expect(read.length).toBeLessThanOrEqual(4);
  });
});
