import { describe, expect, it } from '@jest/globals';
import { readList } from '../shared/stored-list.js';
import { addressOf, decodeSaved, linkOf, withSaved } from './saved-filter.js';

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

  it.each([
    ['', 'https://w.example/deliveries?range=1h'],
    ['/fleets/acme', 'https://w.example/fleets/acme/deliveries?range=1h'],
  ])('have a link to the fleet that they are of: below %j', (base, link) => {
    const filter = { name: 'a', search: 'range=1h' };
    expect([addressOf(filter), linkOf(filter, base, 'https://w.example')]).toEqual(['/deliveries?range=1h', link]);
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
