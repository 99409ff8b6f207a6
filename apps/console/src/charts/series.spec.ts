import { describe, expect, it } from '@jest/globals';
import { latestOf, leastShare, lonelyPoints, stackTops } from './series.js';

function seriesOf(...values: (number | null)[]) {
  return { label: 'some', color: 'good', values };
}

describe('the series of a chart', () => {
  it.each([
    [[1, null, 0.99], 0.9],
    [[0.87, 1], 0.8],
    [[0.8], 0.7],
    [[0.04], 0],
    [[0], 0],
    [[null], 0.9],
  ])('have an axis on which a dip is seen: of %j from %d', (values, least) => {
    expect(leastShare(values)).toBe(least);
  });

  it('stand on each other when they are stacked, and what is missing is not drawn', () => {
    expect(stackTops([seriesOf(3, null, 1), seriesOf(1, 2, 0), seriesOf(0, 0, 5)])).toEqual([
      [3, null, 1],
      [4, 2, null],
      [null, null, 6],
    ]);
  });

  it.each([
    [[7], [0]],
    [
      [null, 7, null, 8, 9, null, 4],
      [1, 6],
    ],
    [[7, 8, null], []],
    [[null, null], []],
  ])('of %j have the points %j, which no line shows', (values, lonely) => {
    expect(lonelyPoints(values)).toEqual(lonely);
  });

  it('have the newest value that there is, also when the last moments have none', () => {
    expect(latestOf(seriesOf(1, 0, null, null))).toBe(0);
    expect(latestOf(seriesOf(null))).toBeNull();
  });
});
