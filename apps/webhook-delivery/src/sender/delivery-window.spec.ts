import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createDeliveryWindow } from './delivery-window.js';

describe('the delivery window', () => {
  it('commits up to the lowest unfinished delivery, however later ones end (R-25)', () => {
    const window = createDeliveryWindow({ offset: 10, foldFrom: 0 });
    for (const offset of [10, 11, 13]) window.admit(offset, 5);
    window.advanceTo(15, 7);
    window.finish(11);
    expect(window.commitPoint()).toEqual({ offset: 10, foldFrom: 5 });
    window.finish(10);
    expect(window.commitPoint()).toEqual({ offset: 13, foldFrom: 5 });
    window.finish(13);
    expect(window.commitPoint()).toEqual({ offset: 15, foldFrom: 7 });
    expect(window.pending).toBe(0);
  });

  it('never commits past an unfinished delivery nor folds from behind its admission, in any order of endings', () => {
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 60 })
          .chain((n) => fc.tuple(fc.constant(n), fc.shuffledSubarray([...Array(n).keys()]))),
        ([count, endings]) => {
          const window = createDeliveryWindow({ offset: 0, foldFrom: 0 });
          for (let i = 0; i < count; i++) window.admit(i * 2, i * 3);
          window.advanceTo(count * 2, count * 3);
          const unfinished = new Set([...Array(count).keys()]);
          for (const i of endings) {
            window.finish(i * 2);
            unfinished.delete(i);
            const lowest = unfinished.size === 0 ? count : Math.min(...unfinished);
            expect(window.commitPoint()).toEqual({ offset: lowest * 2, foldFrom: lowest * 3 });
          }
        },
      ),
    );
  });
});
