import { describe, expect, it } from '@jest/globals';
import { createAmount, turnTable } from './event-load.js';

describe('The amount of a load', () => {
  it('follows its rate and ends with its events', () => {
    const amount = createAmount({ type: 'rate', perSecond: 1_000, events: 50 }, 5_000);
    expect(amount.wanted(5_000, 0)).toBe(0);
    expect(amount.wanted(5_010, 4)).toBe(6);
    expect(amount.wanted(9_000, 40)).toBe(10);
    expect(amount.wanted(9_001, 50)).toBeNull();
  });

  it('follows another rate from the moment it is set', () => {
    const amount = createAmount({ type: 'rate', perSecond: 1_000, events: 50_000 }, 0);
    amount.pace(100, 1_000, 990);
    expect(amount.wanted(1_000, 990)).toBe(0);
    expect(amount.wanted(1_100, 990)).toBe(10);
  });

  it('tells how far the sending was behind its rate', () => {
    const amount = createAmount({ type: 'rate', perSecond: 1_000, events: 5_000 }, 0);
    amount.wanted(100, 0);
    amount.wanted(105, 105);
    expect(amount.behindMs()).toBe(100 - amount.stepMs);
  });

  it('keeps the given number in flight, counted by deliveries since its start', () => {
    const amount = createAmount({ type: 'closed', underWay: 100, deliveriesPerEvent: 10 }, 0);
    expect(amount.wanted(0, 0)).toBe(100);
    amount.answered(5_000);
    expect(amount.wanted(1, 100)).toBe(0);
    amount.answered(5_200);
    expect(amount.wanted(2, 100)).toBe(20);
  });
});

function timesOf(turns: Uint16Array, target: number): number {
  return turns.filter((turn) => turn === target).length;
}

describe('turnTable', () => {
  it('serves equal weights equally often', () => {
    const turns = turnTable(
      Array.from({ length: 100 }, () => 1),
      1_000,
    );
    for (let target = 0; target < 100; target += 1) expect(timesOf(turns, target)).toBe(10);
  });

  it('serves a weight of a fifth every fifth time', () => {
    const others = 99;
    const turns = turnTable([others / 4, ...Array.from({ length: others }, () => 1)], 990);
    expect(timesOf(turns, 0)).toBe(198);
    for (let start = 0; start < 985; start += 5) expect(timesOf(turns.subarray(start, start + 5), 0)).toBe(1);
  });

  it('never serves a weight of 0', () => {
    expect([...turnTable([0, 1, 0], 9)]).toEqual(Array.from({ length: 9 }, () => 1));
  });

  it('refuses weights of nothing', () => {
    expect(() => turnTable([0, 0], 4)).toThrow(RangeError);
  });
});
