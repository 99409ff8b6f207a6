import { describe, expect, it } from '@jest/globals';
import { elementKeys } from './element-keys.js';

/** The keys of each set of rows in turn. */
function keysOfEach(...sets: readonly string[]): number[][] {
  let keys: ReadonlyMap<string, number> = new Map();
  return sets.map((letters) => {
    const rows = letters.split('');
    keys = elementKeys(keys, rows);
    return rows.map((row) => keys.get(row) ?? -1);
  });
}

describe('the elements of rows', () => {
  it('stay with their rows while these move, and are made for those that come', () => {
    expect(keysOfEach('abc', 'xab', 'yxa')).toEqual([
      [0, 1, 2],
      [3, 0, 1],
      [4, 3, 0],
    ]);
  });

  it('are taken over in order where no row stays, and made for more rows than before', () => {
    expect(keysOfEach('abc', 'xa', 'pqr', 'st')).toEqual([
      [0, 1, 2],
      [3, 0],
      [3, 0, 4],
      [3, 0],
    ]);
  });

  it('are the same when the same rows are drawn again', () => {
    expect(keysOfEach('abc', 'abc', 'xyz', 'xyz')).toEqual([
      [0, 1, 2],
      [0, 1, 2],
      [0, 1, 2],
      [0, 1, 2],
    ]);
  });
});
