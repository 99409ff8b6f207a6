import { describe, expect, it } from '@jest/globals';
import { findLeaks, formsOf, textSecret } from './secret-search.js';

const secret = textSecret('the secret', 'pass wörd/+%"123');
const other = textSecret('another', 'whsec_nobodyHasThisOne');

function leaksIn(bytes: Buffer | string) {
  return findLeaks([{ place: 'somewhere', bytes: Buffer.from(bytes) }], [other, secret]).map(({ form }) => form);
}

describe('the search for secrets', () => {
  it.each<[string, Buffer | string]>([
    ['as it is', secret.bytes],
    ['in hex', secret.bytes.toString('hex')],
    ['in capital hex', secret.bytes.toString('hex').toUpperCase()],
    ['in base64', secret.bytes.toString('base64')],
    ['in base64url', secret.bytes.toString('base64url')],
    ['in a URL', `https://example.org/?secret=${encodeURIComponent(secret.bytes.toString())}`],
    ['in a form', new URLSearchParams({ secret: secret.bytes.toString() }).toString()],
    ['in JSON', JSON.stringify({ secret: secret.bytes.toString() })],
    ['in ASCII JSON', '{"secret":"pass w\\u00f6rd/+%\\"123"}'],
    ['in Basic credentials', Buffer.from(`id:${secret.bytes.toString()}`).toString('base64')],
    [
      'in Basic credentials, encoded',
      Buffer.from(`i:${encodeURIComponent(secret.bytes.toString())}`).toString('base64'),
    ],
    [
      'in base64 in JSON in a record',
      Buffer.from(`{"a":"${Buffer.from(`xy${secret.bytes.toString()}z`).toString('base64')}"}`),
    ],
    ['within other bytes', Buffer.concat([Buffer.alloc(100, 0xff), secret.bytes, Buffer.alloc(7)])],
  ])('finds one %s', (_where, bytes) => expect(leaksIn(bytes)).not.toEqual([]));

  it('finds key bytes that are not valid text', () => {
    const key = { name: 'key', bytes: Buffer.from('00ff80fe'.repeat(8), 'hex') };
    for (const text of [key.bytes, key.bytes.toString('hex'), key.bytes.toString('base64')]) {
      const place = { place: 'somewhere', bytes: Buffer.from(text) };
      expect(findLeaks([place], [key])).not.toEqual([]);
    }
  });

  it('finds nothing in an empty set', () => {
    expect(leaksIn('pass word whsec_ wörd/+%"123 {"secret":"[redacted]"}')).toEqual([]);
  });

  it('names what it found and where', () => {
    const kept = { place: 'webhook-delivery.log', bytes: Buffer.from(`Bearer ${other.bytes.toString()}`) };
    expect(findLeaks([kept], [other])).toEqual([{ place: 'webhook-delivery.log', secret: 'another', form: 'plain' }]);
  });

  it('refuses easily guessed secrets', () => {
    expect(() => formsOf(textSecret('short', 'password'))).toThrow('too short');
  });
});
