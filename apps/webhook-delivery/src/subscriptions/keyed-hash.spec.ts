import { describe, expect, it } from '@jest/globals';
import { KeyedHash } from './keyed-hash.js';

function hashOf(hash: KeyedHash, group: number, text: string): string {
  const words = new Uint32Array(2);
  hash.hash(words, group, text);
  return [...words].map((word) => word.toString(16).padStart(8, '0')).join(' ');
}

describe('the keyed hash of a group and a text', () => {
  const hash = new KeyedHash([0x03020100, 0x07060504]);

  it.each([
    [0, '', '97ea5a20 73484c29'],
    [1, 'device-1', '101a3786 faf9acfe'],
    [1, 'device-12', '709c401b f18a17fe'],
    [2, 'device-1', '24b86ef1 8c249cea'],
  ])('is HalfSipHash-2-4 of group %d and "%s" as 32-bit words, the length last', (group, text, expected) => {
    expect(hashOf(hash, group, text)).toBe(expected);
  });

  it('does not depend on what was hashed before', () => {
    const before = hashOf(hash, 1, 'device-1');
    hashOf(hash, 7, 'another');
    expect(hashOf(hash, 1, 'device-1')).toBe(before);
  });

  it('tells apart texts that differ only in a last NUL', () => {
    expect(hashOf(hash, 1, 'a\0')).not.toBe(hashOf(hash, 1, 'a'));
  });

  it('has a secret key, so that outsiders cannot search for collisions', () => {
    expect(hashOf(new KeyedHash(), 1, 'device-1')).not.toBe(hashOf(new KeyedHash(), 1, 'device-1'));
  });
});
