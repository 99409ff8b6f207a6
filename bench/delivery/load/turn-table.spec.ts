import { describe, expect, it } from '@jest/globals';
import { turnTable } from './turn-table.js';

const timesOf = (turns: Uint16Array, target: number): number => turns.filter((turn) => turn === target).length;

describe('turnTable', () => {
  it('gives equal weights equal turns', () => {
    const turns = turnTable(
      Array.from({ length: 100 }, () => 1),
      1_000,
    );
    for (let target = 0; target < 100; target += 1) expect(timesOf(turns, target)).toBe(10);
  });

  it('gives a weight of a fifth every fifth turn', () => {
    const others = 99;
    const turns = turnTable([others / 4, ...Array.from({ length: others }, () => 1)], 990);
    expect(timesOf(turns, 0)).toBe(198);
    for (let start = 0; start < 985; start += 5) expect(timesOf(turns.subarray(start, start + 5), 0)).toBe(1);
  });

  it('never gives a turn to a weight of 0', () => {
    expect([...turnTable([0, 1, 0], 9)]).toEqual(Array.from({ length: 9 }, () => 1));
  });

  it('refuses weights of nothing', () => {
    expect(() => turnTable([0, 0], 4)).toThrow(RangeError);
  });
});
