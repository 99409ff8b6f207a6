import { createDecipheriv } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  openClientSecret,
  openSecret,
  openSigningSecret,
  sealClientSecret,
  sealSecret,
  sealSigningSecret,
} from './sealed-secret.js';

const KEY = Buffer.alloc(32, 7);
const NONCE = Buffer.alloc(12, 9);
const CONTEXT = 'subscription-secret:a';
const sealed = sealSecret('open sesame', KEY, NONCE, CONTEXT);

describe('a sealed secret (R-17)', () => {
  it('is opened by the same key in the same context', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.string(), (bytes, context) => {
        const plaintext = Buffer.from(bytes);
        const text = sealSecret(plaintext, KEY, NONCE, context);
        expect(openSecret(text, KEY, context)).toEqual({ type: 'opened', plaintext });
      }),
    );
  });

  it('is AES-256-GCM with the context as additional data, in a versioned text', () => {
    const [version, nonce = '', rest = ''] = sealed.split('.');
    const bytes = Buffer.from(rest, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', KEY, Buffer.from(nonce, 'base64url'));
    decipher.setAAD(Buffer.from(CONTEXT)).setAuthTag(bytes.subarray(-16));

    expect(version).toBe('v1');
    expect(decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8')).toBe('open sesame');
  });

  it('tells nothing under another key or in another context', () => {
    const expected = { type: 'unreadable', reason: 'not_authentic' };

    expect(openSecret(sealed, Buffer.alloc(32, 8), CONTEXT)).toEqual(expected);
    expect(openSecret(sealed, KEY, 'subscription-secret:b')).toEqual(expected);
  });

  it('tells nothing when a single character of it is changed', () => {
    for (let index = 0; index < sealed.length; index++) {
      const changed = sealed.slice(0, index) + (sealed[index] === 'A' ? 'B' : 'A') + sealed.slice(index + 1);
      expect(openSecret(changed, KEY, CONTEXT).type).toBe('unreadable');
    }
  });

  it.each([
    ['', 'unknown_version'],
    ['v2.CQkJCQkJCQkJCQkJ.AAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'unknown_version'],
    ['v1', 'malformed'],
    ['v1.CQkJCQkJCQkJCQkJ', 'malformed'],
    ['v1.CQkJ.AAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'malformed'],
    ['v1.CQkJCQkJCQkJCQkJ.AAAA', 'malformed'],
    ['v1.CQkJCQkJCQkJCQkJ.=not base64url=', 'malformed'],
    [`${sealed}.more`, 'malformed'],
  ])('that reads "%s" is unreadable', (text, reason) => {
    expect(openSecret(text, KEY, CONTEXT)).toEqual({ type: 'unreadable', reason });
  });

  it.each([16, 31, 33])('refuses a key of %d bytes', (length) => {
    const error = expect.objectContaining({ code: 'bad_key' });

    expect(() => sealSecret('x', Buffer.alloc(length), NONCE, CONTEXT)).toThrow(error);
    expect(() => openSecret(sealed, Buffer.alloc(length), CONTEXT)).toThrow(error);
  });

  it('refuses a nonce of another length', () => {
    expect(() => sealSecret('x', KEY, Buffer.alloc(16), CONTEXT)).toThrow(
      expect.objectContaining({ code: 'bad_nonce' }),
    );
  });
});

describe("a subscription's sealed secrets", () => {
  const signing = sealSigningSecret(Buffer.alloc(32, 1), KEY, NONCE, 'a');
  const client = sealClientSecret('pass wörd', KEY, NONCE, 'a');

  it('open for their own subscription', () => {
    expect(openSigningSecret(signing, KEY, 'a')).toEqual({ type: 'opened', plaintext: Buffer.alloc(32, 1) });
    expect(openClientSecret(client, KEY, 'a')).toEqual({ type: 'opened', plaintext: Buffer.from('pass wörd') });
  });

  it('open neither for another subscription nor as the other kind', () => {
    expect(openSigningSecret(signing, KEY, 'b').type).toBe('unreadable');
    expect(openClientSecret(client, KEY, 'b').type).toBe('unreadable');
    expect(openSigningSecret(client, KEY, 'a').type).toBe('unreadable');
    expect(openClientSecret(signing, KEY, 'a').type).toBe('unreadable');
  });
});
