import { describe, expect, it } from '@jest/globals';
import type { Request } from 'express';
import fc from 'fast-check';
import { parseQuery } from '../endpoint/query-text.js';
import { AnswerSealer } from './answer-sealer.js';
import { idempotencyKey, requestFingerprint } from './idempotent-requests.js';

function withKey(key: string): Request {
  return { headers: { 'idempotency-key': key } } as unknown as Request;
}

describe('an idempotency key', () => {
  it.each(['a', '"quoted"', 'a b', '8e03978e-40d5-43dd-bc93-6894a57f9324', 'x'.repeat(255)])('may be %s', (key) => {
    expect(idempotencyKey(withKey(key))).toBe(key);
  });

  it.each(['', ' ', 'x'.repeat(256), 'ä', 'a\tb', ' a'])('may not be %j', (key) => {
    expect(() => idempotencyKey(withKey(key))).toThrow(
      expect.objectContaining({ response: expect.objectContaining({ code: 'invalid_header' }), status: 400 }),
    );
  });

  it('need not be there', () => expect(idempotencyKey({ headers: {} } as Request)).toBeNull());
});

function fingerprintOf(asked: { readonly path?: string; readonly body?: unknown; readonly query?: string }): string {
  return requestFingerprint({ path: '/p', body: {}, ...asked, query: parseQuery(asked.query) });
}

describe('the fingerprint of a request', () => {
  it('is the same whatever the order of the fields', () => {
    const body = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(body, (fields) => {
        const turned = Object.fromEntries(Object.entries(fields).reverse());
        expect(fingerprintOf({ body: turned })).toBe(fingerprintOf({ body: fields }));
      }),
    );
  });

  it('is another one for another path or body', () => {
    const bodies = [undefined, {}, { a: 1 }, { a: '1' }, { a: [1, 2] }, { a: [2, 1] }, { a: null }, [['a', 1]]];
    const all = ['/p', '/q'].flatMap((path) => bodies.map((body) => fingerprintOf({ path, body })));
    expect(new Set(all).size).toBe(all.length);
  });

  it('differs with the query, whatever its order', () => {
    const queries = ['', 'scope=url', 'scope=subscription', 'scope', 'scope=url&a=1', 'a=1&a=2', 'a=2&a=1', 'a=1%2C2'];
    const all = queries.map((query) => fingerprintOf({ query }));
    expect(new Set(all).size).toBe(all.length);
    expect(fingerprintOf({ query: 'a=1&b=2' })).toBe(fingerprintOf({ query: 'b=2&a=1' }));
    expect(fingerprintOf({ query: 'a=%31' })).toBe(fingerprintOf({ query: 'a=1' }));
  });

  it('of a request without a query stays what it is, for the keys of the last 24 hours', () => {
    expect(fingerprintOf({ path: '/p', body: { a: 1 } })).toBe('x25i5lw_NYQyYk3bzvkIq339AHR4TrBVtmlwCIX2Arc');
  });
});

describe('a kept answer', () => {
  const key = Buffer.alloc(32, 1);
  const sealer = new AnswerSealer({ sealingKeys: [key] }, (size) => Buffer.alloc(size, 2));
  const ref = { fleetId: 'acme', route: 'POST /p', key: 'k' };
  const answered = { fingerprint: 'f', answer: { secret: 'whsec_open-sesame' } };
  const sealed = sealer.seal(ref, answered);

  it('opens for its own request and shows nothing of it', () => {
    expect(sealer.open(ref, sealed)).toEqual(answered);
    expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('sesame');
  });

  it.each([{ fleetId: 'other' }, { route: 'POST /q' }, { key: 'l' }])('does not open for %j', (other) => {
    expect(sealer.open({ ...ref, ...other }, sealed)).toBeNull();
  });

  it('does not open under another sealing key', () => {
    const other = new AnswerSealer({ sealingKeys: [Buffer.alloc(32, 3)] }, (size) => Buffer.alloc(size));
    expect(other.open(ref, sealed)).toBeNull();
  });
});
