import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { timeMarks } from './time-marks.js';

describe('the marks below a time line', () => {
  it.each([
    [1, [0, 1]],
    [33, [0, 10, 20, 30]],
    [5_000, [0, 1_000, 2_000, 3_000, 4_000, 5_000]],
    [33_280, [0, 10_000, 20_000, 30_000]],
    [250_000, [0, 60_000, 120_000, 180_000, 240_000]],
    [15 * 86_400_000, [0, 3, 6, 9, 12, 15].map((days) => days * 86_400_000)],
  ])('are round: of %d ms', (spanMs, marks) => {
    expect(timeMarks(spanMs)).toEqual(marks);
  });

  it('are at most six, and none lies past the end', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 * 86_400_000 }), (spanMs) => {
        const marks = timeMarks(spanMs);
        expect(marks.length).toBeGreaterThan(1);
        expect(marks.length).toBeLessThanOrEqual(6);
        expect(marks.at(-1)).toBeLessThanOrEqual(spanMs);
      }),
    );
  });
});
