import { describe, expect, it } from '@jest/globals';
import { Shares } from './shares.js';

const one = { fleetId: 'acme', keyId: 'one' };
const two = { fleetId: 'acme', keyId: 'two' };
const other = { fleetId: 'other', keyId: 'other' };
const third = { fleetId: 'third', keyId: 'third' };

describe('the shares of a process (R-37)', () => {
  it('end with the most that a key, its fleet and the process may have', () => {
    const shares = new Shares({ key: 3, fleet: 5, process: 7 });
    expect(shares.take(one, 3).type).toBe('taken');
    expect(shares.take(one)).toEqual({ type: 'full', whose: 'key', most: 3 });
    expect(shares.take(two, 2).type).toBe('taken');
    expect(shares.take(two)).toEqual({ type: 'full', whose: 'fleet', most: 5 });
    expect(shares.take(other, 2).type).toBe('taken');
    expect(shares.take(third)).toEqual({ type: 'full', whose: 'process', most: 7 });
  });

  it('can be had again once they are given back', () => {
    const shares = new Shares({ key: 1, fleet: 1, process: 1 });
    const share = shares.take(one);
    expect(shares.take(other).type).toBe('full');
    if (share.type === 'taken') share.giveBack();
    expect(shares.take(other).type).toBe('taken');
  });

  it('are given beyond the limit to one who has nothing', () => {
    const shares = new Shares({ key: 1, fleet: 1, process: 1 });
    expect(shares.take(one, 10).type).toBe('taken');
    expect(shares.take(one).type).toBe('full');
  });
});
