import { createDecipheriv } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  isSealedWithNewest,
  keyIdOf,
  openClientKey,
  openClientSecret,
  openHeaderValue,
  openSecret,
  openSigningSecret,
  sealClientKey,
  sealClientSecret,
  sealHeaderValue,
  sealSecret,
  sealSigningSecret,
} from './sealed-secret.js';

const KEY = Buffer.alloc(32, 7);
const KEYS = [KEY];
const NONCE = Buffer.alloc(12, 9);
const CONTEXT = 'subscription-secret:a';
const OTHER_KEY = Buffer.alloc(32, 8);
/** What the first release made of 'open sesame'. */
const SEALED_WITHOUT_ID = 'v1.CQkJCQkJCQkJCQkJ.SPXh-p6DpBLBD65LX2iHwpA692d16VrWkOzZ';
const sealed = sealSecret('open sesame', KEYS, NONCE, CONTEXT);

describe('a sealed secret (R-17)', () => {
  it('is opened by the same key in the same context', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.string(), (bytes, context) => {
        const plaintext = Buffer.from(bytes);
        const text = sealSecret(plaintext, KEYS, NONCE, context);
        expect(openSecret(text, KEYS, context)).toEqual({ type: 'opened', plaintext });
      }),
    );
  });

  it('is AES-256-GCM with the context as additional data, in a versioned text', () => {
    const [version, keyId, nonce = '', rest = ''] = sealed.split('.');
    const bytes = Buffer.from(rest, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', KEY, Buffer.from(nonce, 'base64url'));
    decipher.setAAD(Buffer.from(CONTEXT)).setAuthTag(bytes.subarray(-16));

    expect([version, keyId]).toEqual(['v2', keyIdOf(KEY)]);
    expect(decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8')).toBe('open sesame');
  });

  it('tells nothing under another key or in another context', () => {
    const unreadable = (reason: string) => ({ type: 'unreadable', reason });

    expect(openSecret(sealed, [OTHER_KEY], CONTEXT)).toEqual(unreadable('unknown_key'));
    expect(openSecret(SEALED_WITHOUT_ID, [OTHER_KEY], CONTEXT)).toEqual(unreadable('not_authentic'));
    expect(openSecret(sealed, KEYS, 'subscription-secret:b')).toEqual(unreadable('not_authentic'));
  });

  it('tells nothing when a single character of it is changed', () => {
    for (let index = 0; index < sealed.length; index++) {
      const changed = sealed.slice(0, index) + (sealed[index] === 'A' ? 'B' : 'A') + sealed.slice(index + 1);
      expect(openSecret(changed, KEYS, CONTEXT).type).toBe('unreadable');
    }
  });

  it('is sealed under the newest key and opened by any of them, also when it names no key', () => {
    const opened = { type: 'opened', plaintext: Buffer.from('open sesame') };
    const renewed = sealSecret('open sesame', [OTHER_KEY, KEY], NONCE, CONTEXT);

    expect(renewed).toContain(`.${keyIdOf(OTHER_KEY)}.`);
    for (const text of [sealed, SEALED_WITHOUT_ID, renewed]) {
      expect(openSecret(text, [OTHER_KEY, KEY], CONTEXT)).toEqual(opened);
      expect(openSecret(text, [KEY, OTHER_KEY], CONTEXT)).toEqual(opened);
    }
    expect(openSecret(renewed, [KEY], CONTEXT)).toEqual({ type: 'unreadable', reason: 'unknown_key' });
  });

  it('says whether it is sealed under the newest key', () => {
    expect(isSealedWithNewest(sealed, [KEY, OTHER_KEY])).toBe(true);
    expect(isSealedWithNewest(sealed, [OTHER_KEY, KEY])).toBe(false);
    expect(isSealedWithNewest(SEALED_WITHOUT_ID, KEYS)).toBe(false);
  });

  it('needs a key', () => {
    expect(() => sealSecret('x', [], NONCE, CONTEXT)).toThrow(expect.objectContaining({ code: 'bad_key' }));
  });

  it.each([
    ['', 'unknown_version'],
    ['v3.CQkJCQkJCQkJCQkJ.AAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'unknown_version'],
    ['v1', 'malformed'],
    ['v2.CQkJCQkJCQkJCQkJ.AAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'malformed'],
    ['v1.CQkJCQkJCQkJCQkJ', 'malformed'],
    ['v1.CQkJ.AAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'malformed'],
    ['v1.CQkJCQkJCQkJCQkJ.AAAA', 'malformed'],
    ['v1.CQkJCQkJCQkJCQkJ.=not base64url=', 'malformed'],
    [`${sealed}.more`, 'malformed'],
  ])('that reads "%s" is unreadable', (text, reason) => {
    expect(openSecret(text, KEYS, CONTEXT)).toEqual({ type: 'unreadable', reason });
  });

  it.each([16, 31, 33])('refuses a key of %d bytes', (length) => {
    const error = expect.objectContaining({ code: 'bad_key' });

    expect(() => sealSecret('x', [Buffer.alloc(length)], NONCE, CONTEXT)).toThrow(error);
    expect(() => openSecret(sealed, [Buffer.alloc(length)], CONTEXT)).toThrow(error);
  });

  it('refuses a nonce of another length', () => {
    expect(() => sealSecret('x', KEYS, Buffer.alloc(16), CONTEXT)).toThrow(
      expect.objectContaining({ code: 'bad_nonce' }),
    );
  });
});

describe("a subscription's sealed secrets", () => {
  const signing = sealSigningSecret(Buffer.alloc(32, 1), KEYS, NONCE, 'a');
  const client = sealClientSecret('pass wörd', KEYS, NONCE, 'a');
  const clientKey = sealClientKey('-----BEGIN', KEYS, NONCE, 'a');
  const header = sealHeaderValue('key', KEYS, NONCE, { subscriptionId: 'a', name: 'x-key' });

  it('open for their own subscription', () => {
    expect(openSigningSecret(signing, KEYS, 'a')).toEqual({ type: 'opened', plaintext: Buffer.alloc(32, 1) });
    expect(openClientSecret(client, KEYS, 'a')).toEqual({ type: 'opened', plaintext: Buffer.from('pass wörd') });
    expect(openClientKey(clientKey, KEYS, 'a')).toEqual({ type: 'opened', plaintext: Buffer.from('-----BEGIN') });
    const opened = openHeaderValue(header, KEYS, { subscriptionId: 'a', name: 'x-key' });
    expect(opened).toEqual({ type: 'opened', plaintext: Buffer.from('key') });
  });

  it('open neither for another subscription nor as another kind', () => {
    expect(openSigningSecret(signing, KEYS, 'b').type).toBe('unreadable');
    expect(openClientSecret(client, KEYS, 'b').type).toBe('unreadable');
    expect(openClientKey(clientKey, KEYS, 'b').type).toBe('unreadable');
    expect(openClientSecret(clientKey, KEYS, 'a').type).toBe('unreadable');
    expect(openClientKey(client, KEYS, 'a').type).toBe('unreadable');
    expect(openSigningSecret(client, KEYS, 'a').type).toBe('unreadable');
    expect(openClientSecret(signing, KEYS, 'a').type).toBe('unreadable');
    for (const other of [
      { subscriptionId: 'b', name: 'x-key' },
      { subscriptionId: 'a', name: 'x-other' },
    ]) {
      expect(openHeaderValue(header, KEYS, other).type).toBe('unreadable');
    }
    expect(openClientSecret(header, KEYS, 'a').type).toBe('unreadable');
  });
});
