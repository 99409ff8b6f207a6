import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addDurations,
  countsOf,
  DURATION_ERROR,
  durationBucket,
  type DurationHistogram,
  percentiles,
} from './duration-histogram.js';

function histogramOf(durations: readonly number[]): DurationHistogram {
  const histogram: DurationHistogram = new Map();
  for (const duration of durations) addDurations(histogram, durationBucket(duration), 1);
  return histogram;
}

describe('a histogram of durations', () => {
  it('gives every percentile within the stated error', () => {
    const durations = fc.array(fc.integer({ min: 0, max: 15 * 86_400_000 }), { minLength: 1 });
    fc.assert(
      fc.property(durations, fc.integer({ min: 1, max: 100 }), (given, percent) => {
        const exact = Math.max(1, given.toSorted((a, b) => a - b)[Math.ceil((percent / 100) * given.length) - 1] ?? 0);
        const [found = null] = percentiles(countsOf(histogramOf(given)), [percent / 100]);
        expect(Math.abs(Number(found) - exact)).toBeLessThanOrEqual(exact * DURATION_ERROR + 0.5);
      }),
    );
  });

  it('has few buckets, of which the first is for durations that are not above a millisecond', () => {
    expect([-5, 0, 1].map(durationBucket)).toEqual([0, 0, 0]);
    expect(durationBucket(15 * 86_400_000)).toBe(221);
  });

  it('forgets a duration that is taken out', () => {
    const histogram = histogramOf([40]);
    addDurations(histogram, durationBucket(40), -1);
    expect(histogram.size).toBe(0);
    expect(percentiles(countsOf(histogram), [0.5, 0.99])).toEqual([null, null]);
  });
});
