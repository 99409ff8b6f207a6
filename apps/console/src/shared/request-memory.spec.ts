import { describe, expect, it } from '@jest/globals';
import { requestMemory } from './request-memory.js';

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
