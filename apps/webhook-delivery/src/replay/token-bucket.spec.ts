import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTokenBucket } from './token-bucket.js';

describe('the bucket', () => {
  it('never allows more than the rate, a burst of 0.4 s and one more', () => {
    const waits = fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 1, max: 500 }), waits, (rate, wanted, all) => {
        let nowMs = 0;
        const bucket = createTokenBucket(rate, () => nowMs);
        let taken = 0;
        for (const ms of all) {
          nowMs += ms;
          taken += bucket.take(wanted);
          expect(taken).toBeLessThanOrEqual((rate * nowMs) / 1_000 + 1e-6);
        }
        const burst = Math.max(1, rate * 0.4);
        let atOnce = 0;
        for (let tries = 0; tries < 20; tries++) atOnce += bucket.take(wanted);
        expect(atOnce).toBeLessThanOrEqual(burst + 1e-6);
      }),
    );
  });

  it.each([
    [1, 10],
    [3, 10],
    [500, 500],
    [10_000, 500],
  ])('keeps a rate of %d a second when it is asked again after each wait', (rate, wanted) => {
    let nowMs = 0;
    const bucket = createTokenBucket(rate, () => nowMs);
    let taken = 0;
    while (nowMs < 20_000) {
      taken += bucket.take(wanted);
      nowMs += bucket.waitMs(wanted);
    }
    expect(taken).toBeGreaterThanOrEqual(rate * 20 * 0.95 - 1);
    expect(taken).toBeLessThanOrEqual(rate * 20);
  });

  it('saves small portions up: 500 per second become 100 five times per second', () => {
    let nowMs = 0;
    const bucket = createTokenBucket(500, () => nowMs);
    nowMs = 199;
    expect(bucket.take(500)).toBe(0);
    nowMs = 200;
    expect(bucket.take(500)).toBe(100);
  });

  it('grants returned allowance again', () => {
    let nowMs = 0;
    const bucket = createTokenBucket(1_000, () => nowMs);
    nowMs = 200;
    expect(bucket.take(200)).toBe(200);
    bucket.giveBack(150);
    expect(bucket.take(150)).toBe(150);
  });
});
