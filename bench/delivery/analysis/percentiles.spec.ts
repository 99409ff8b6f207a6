import { describe, expect, it } from '@jest/globals';
import { percentilesOf } from './percentiles.js';

describe('percentilesOf', () => {
  it('gives the values at their ranks, whatever their order', () => {
    const values = Array.from({ length: 1_000 }, (_, index) => 1_000 - index);
    expect(percentilesOf(values)).toEqual({ count: 1_000, p50: 500, p99: 990, p999: 999, most: 1_000 });
  });

  it('never gives a value that was not measured', () => {
    expect(percentilesOf([3, 100])).toEqual({ count: 2, p50: 3, p99: 100, p999: 100, most: 100 });
  });

  it('knows nothing of nothing', () => {
    expect(percentilesOf([])).toEqual({ count: 0, p50: NaN, p99: NaN, p999: NaN, most: NaN });
  });
});
