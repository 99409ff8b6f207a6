import { describe, expect, it } from '@jest/globals';
import { NewestMap } from './newest-map.js';

describe('NewestMap', () => {
  it('drops the entry that was set longest ago when it is full', () => {
    const map = new NewestMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);

    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
  });

  it('drops a tenth at once, and never the newest', () => {
    const map = new NewestMap<number, number>(20);
    for (let n = 0; n < 1_000; n++) {
      map.set(n, n);
      expect(map.size).toBeLessThanOrEqual(20);
      expect([...map.keys()].at(-1)).toBe(n);
    }
    expect([...map.keys()].slice(-18)).toEqual(Array.from({ length: 18 }, (_, n) => 982 + n));
  });
});
