import { describe, expect, it } from '@jest/globals';
import { durationText } from '../shared/time-text.js';
import { durationAt, durationMarks, durationRange, heightOf } from './duration-axis.js';

function textsOf(leastMs: number | null, mostMs: number | null): string[] {
  return durationMarks(...durationRange(heightOf(leastMs), heightOf(mostMs))).map((mark) =>
    durationText(durationAt(mark)),
  );
}

describe('the axis of durations', () => {
  it.each([
    [12, 85, ['10 ms', '100 ms']],
    [12, 33_000, ['10 ms', '100 ms', '1 s', '10 s', '1 min']],
    [900, 5_400_000, ['100 ms', '1 s', '10 s', '1 min', '10 min', '1 h', '10 h']],
    [0, 0, ['1 ms', '10 ms']],
    [null, null, ['1 ms', '10 ms']],
  ])('has round marks around all values: of %p to %p ms', (least, most, texts) => {
    expect(textsOf(least, most)).toEqual(texts);
  });

  it('leaves most of its height to values that one outlier exceeds a thousand times', () => {
    const [from, to] = durationRange(heightOf(20), heightOf(33_000));
    expect(((heightOf(200) ?? 0) - from) / (to - from)).toBeGreaterThan(0.3);
  });

  it('has a place for what took no time, and none for what was not measured', () => {
    expect([0, 0.4, 100, null].map(heightOf)).toEqual([0, 0, 2, null]);
  });
});
