import { describe, expect, it } from '@jest/globals';
import { readList } from '../shared/stored-list.js';
import { decodeSaved, withSaved } from './saved-filter.js';

describe('saved filters', () => {
  it.each([[null], ['{"name":"x"}'], ['no JSON'], ['[1,null,{"name":"","search":"x"},{"name":"x"}]']])(
    'are none where the storage has %s',
    (text) => {
      expect(readList(text, decodeSaved)).toEqual([]);
    },
  );

  it('keep what a filter can be, and nothing else', () => {
    const text = JSON.stringify([{ name: 'Bad', search: 'status=failed&status2=x&range=2y' }]);
    expect(readList(text, decodeSaved)).toEqual([{ name: 'Bad', search: 'status=failed' }]);
  });

  it('have one filter per name, the newest', () => {
    const one = { name: 'a', search: 'status=failed' };
    const other = { name: 'b', search: '' };
    expect(withSaved([one, other], { name: 'a', search: 'range=1h' })).toEqual([
      other,
      { name: 'a', search: 'range=1h' },
    ]);
  });
});
