import { describe, expect, it } from '@jest/globals';
import { formatApiKey, hashApiKey } from './api-key.js';

describe('API keys (R-37)', () => {
  it('are wp_ and base64url', () => expect(formatApiKey(Buffer.alloc(32, 0xff))).toBe(`wp_${'_'.repeat(42)}8`));

  it('need enough random bytes not to be guessed', () => {
    expect(formatApiKey(Buffer.alloc(16))).toMatch(/^wp_A{22}$/);
    expect(() => formatApiKey(Buffer.alloc(15))).toThrow(expect.objectContaining({ code: 'bad_key' }));
  });

  it('are stored as their SHA-256', () => {
    expect(hashApiKey('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
