import { describe, expect, it } from '@jest/globals';
import { compareByKey } from './compare.js';

function byKey(lines: Record<string, string[]>): Map<string, string[]> {
  return new Map(Object.entries(lines));
}
const expected = byKey({ a: ['1', '2', '2'], b: ['3'] });

describe('the comparison of the committed output with the expected one', () => {
  it('finds nothing wrong with the same lines in the same order', () => {
    expect(compareByKey('events', byKey({ b: ['3'], a: ['1', '2', '2'] }), expected)).toEqual([]);
  });

  it('names a missing line, a repeated line, and an unexpected key', () => {
    const actual = byKey({ a: ['1', '2'], b: ['3', '3'], c: ['4'] });
    expect(compareByKey('events', actual, expected)).toEqual([
      'events of a: missing [2], unexpected or twice []',
      'events of b: missing [], unexpected or twice [3]',
      'events of c: missing [], unexpected or twice [4]',
    ]);
  });

  it('names the place from which on the order is another', () => {
    const actual = byKey({ a: ['2', '1', '2'], b: ['3'] });
    expect(compareByKey('events', actual, expected)).toEqual(['events of a: in another order from place 0: 2']);
  });
});
