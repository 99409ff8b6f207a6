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
});
