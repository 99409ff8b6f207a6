import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { durationBucket, type DurationHistogram } from './duration-histogram.js';
import { addFigures, ATTEMPT_CLASSES, type Figures, noFigures, summed } from './figures.js';
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

describe('the sum of packed figures (R-41)', () => {
  it('is that of the figures, however many, wherever they stand in a text, for one sum after another', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.tuple(fc.stringMatching(/^[a-z0-9,-]*$/), anyFigures))), (sums) => {
        const sum = new PackedSum();
        for (const all of sums) {
          const expected = noFigures();
          for (const [before, figures] of all) {
            addFigures(expected, summed(figures));
            sum.add(`${before}${packFigures(figures)},${before}`, before.length);
          }
          expect(sum.take()).toEqual(summed(expected));
        }
      }),
    );
  });
});
