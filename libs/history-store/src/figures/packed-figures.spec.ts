import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addDurations, durationBucket, type DurationHistogram } from './duration-histogram.js';
import { ATTEMPT_CLASSES, type Figures, noFigures, summed } from './figures.js';
import { PackedSum, packFigures } from './packed-figures.js';

const count = fc.integer({ min: -3, max: 2_000_000 });
const histogram: fc.Arbitrary<DurationHistogram> = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: durationBucket(Number.MAX_SAFE_INTEGER) }), count), {
    selector: ([bucket]) => bucket,
  })
  .map((pairs) => new Map(pairs.filter(([, of]) => of !== 0)));
const anyFigures: fc.Arbitrary<Figures> = fc.record({
  started: count,
  delivered: count,
  failed: count,
  expired: count,
  retries: count,
  probes: count,
  attempts: fc.array(count, { minLength: ATTEMPT_CLASSES.length, maxLength: ATTEMPT_CLASSES.length }),
  latency: histogram,
  retryLateness: histogram,
});

function addFigures(to: Figures, other: Figures): void {
  for (const count of ['started', 'delivered', 'failed', 'expired', 'retries', 'probes'] as const)
    to[count] += other[count];
  for (const [index, of] of other.attempts.entries()) to.attempts[index] = (to.attempts[index] ?? 0) + of;
  for (const durations of ['latency', 'retryLateness'] as const)
    for (const [bucket, of] of other[durations]) addDurations(to[durations], bucket, of);
}

describe('the sum of packed figures (R-41)', () => {
  it('is that of the figures, however many, wherever they stand in a text, for one sum after another', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.tuple(fc.stringMatching(/^[a-z0-9,-]*$/), anyFigures))), (sums) => {
        const sum = new PackedSum();
        for (const all of sums) {
          const expected = noFigures();
          for (const [before, figures] of all) {
            addFigures(expected, figures);
            sum.add(`${before}${packFigures(summed(figures))},${before}`, before.length);
          }
          expect(sum.take()).toEqual(summed(expected));
        }
      }),
    );
  });
});
