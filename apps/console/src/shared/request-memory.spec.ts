import { describe, expect, it } from '@jest/globals';
import { WaypostApiError } from '@waypost/client';
import { isRefusal, requestMemory } from './request-memory.js';

function memory() {
  let count = 0;
  const next = () => (count += 1);
  return requestMemory({ newKey: () => `key-${String(next())}`, nowMs: () => 1_000 * next() });
}

describe('a request that may have been carried out', () => {
  it('has the same key and the same time when it is sent again', () => {
    const { recall } = memory();
    const first = recall({ url: 'https://a.example', eventTypes: ['position'] });
    expect(first).toMatchObject({ idempotencyKey: 'key-1', firstAtMs: 2_000 });
    expect(recall({ url: 'https://a.example', eventTypes: ['position'] })).toEqual(first);
  });

  it('is another one once something in it has changed, or after it was carried out', () => {
    const { recall, forget } = memory();
    const keys = [recall({ scope: 'url' }), recall({ scope: 'subscription' })];
    forget();
    keys.push(recall({ scope: 'subscription' }));
    expect(keys.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['key-1', 'key-3', 'key-5']);
  });
});

describe('a request that the service has refused', () => {
  const error = (status: number, code: WaypostApiError['code'], attempts = 1) =>
    new WaypostApiError({ status, code, message: '', details: [], requestId: null, retryAfterMs: null }, attempts);

  it.each([
    ['a limit', error(409, 'too_many_replays'), true],
    ['a lost answer, which needs a new key', error(409, 'idempotency_answer_lost'), true],
    ['the same request being carried out', error(409, 'idempotency_in_progress'), false],
    ['a rate limit', error(429, 'rate_limited'), true],
    ['a rate limit after an attempt without a response', error(429, 'rate_limited', 2), false],
    ['an error of the service', error(503, 'unavailable'), false],
    ['no response', new Error('offline'), false],
  ])('was not carried out, unless that is uncertain: %s', (_, refusal, expected) => {
    expect(isRefusal(refusal)).toBe(expected);
  });
});
