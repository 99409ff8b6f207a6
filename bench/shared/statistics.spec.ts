import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { medianOf, percentilesOf, summarize } from './statistics.js';

describe('A summary of measurements', () => {
  it('has the middle one of an odd number as its median', () => {
    expect(summarize([30, 10, 20])).toEqual({ median: 20, least: 10, most: 30 });
  });

  it('has the mean of the two in the middle of an even number as its median', () => {
    expect(summarize([4, 1, 3, 100])).toEqual({ median: 3.5, least: 1, most: 100 });
  });

  it('sorts by size and not by spelling', () => expect(medianOf([9, 10, 100])).toBe(10));

  it('leaves as many measurements below the median as above it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const median = medianOf(values);
        const half = values.length / 2;
        expect(values.filter((value) => value < median).length).toBeLessThanOrEqual(half);
        expect(values.filter((value) => value > median).length).toBeLessThanOrEqual(half);
      }),
    );
  });

  it('cannot be made of nothing', () => expect(() => summarize([])).toThrow(RangeError));
});

describe('percentilesOf', () => {
  it('gives the values at their ranks, whatever their order', () => {
    const values = Array.from({ length: 1_000 }, (_, index) => 1_000 - index);
    expect(percentilesOf(values)).toEqual({ count: 1_000, p50: 500, p99: 990, p999: 999, most: 1_000 });
  });

  it('never gives a value that was not measured', () => {
    expect(percentilesOf([3, 100])).toEqual({ count: 2, p50: 3, p99: 100, p999: 100, most: 100 });
  });

  it('finds nothing in an empty set', () => {
    expect(percentilesOf([])).toEqual({ count: 0, p50: NaN, p99: NaN, p999: NaN, most: NaN });
  });
});
