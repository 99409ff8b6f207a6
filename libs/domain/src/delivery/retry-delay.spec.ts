import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { retryDelayMs } from './retry-delay.js';

/** The largest number below 1 that Math.random may give. */
const ALMOST_1 = 1 - Number.EPSILON / 2;

describe('retryDelayMs (R-22)', () => {
  it.each([
    [1, 1_600, 2_000, 2_400],
    [2, 3_200, 4_000, 4_800],
    [3, 6_400, 8_000, 9_600],
    [4, 12_000, 15_000, 15_000],
  ])('waits after attempt %d from %d over %d to %d ms', (attempt, shortest, middle, longest) => {
    expect(retryDelayMs(attempt, 0)).toBe(shortest);
    expect(retryDelayMs(attempt, 0.5)).toBe(middle);
    expect(retryDelayMs(attempt, ALMOST_1)).toBe(longest);
  });

  it('is a whole number of milliseconds within 20 % of the base and never above 15 s', () => {
    const attempts = fc.constantFrom(
      [1, 2_000] as const,
      [2, 4_000] as const,
      [3, 8_000] as const,
      [4, 15_000] as const,
    );
    fc.assert(
      fc.property(
        attempts,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        ([attempt, baseMs], random) => {
          const delayMs = retryDelayMs(attempt, random);
          expect(Number.isInteger(delayMs)).toBe(true);
          expect(delayMs).toBeGreaterThanOrEqual(baseMs * 0.8);
          expect(delayMs).toBeLessThanOrEqual(Math.min(baseMs * 1.2, 15_000));
        },
      ),
    );
  });

  it.each([0, 5, 1.5, Number.NaN])('has no wait after attempt %d', (attempt) => {
    expect(() => retryDelayMs(attempt, 0)).toThrow(expect.objectContaining({ code: 'attempt_out_of_range' }));
  });
});
