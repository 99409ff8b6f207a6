import { describe, expect, it } from '@jest/globals';
import { createAmount } from './amount.js';

describe('The amount of a load', () => {
  it('follows its rate and ends with its events', () => {
    const amount = createAmount({ type: 'rate', perSecond: 1_000, events: 50 }, 5_000);
    expect(amount.wanted(5_000, 0)).toBe(0);
    expect(amount.wanted(5_010, 4)).toBe(6);
    expect(amount.wanted(9_000, 40)).toBe(10);
    expect(amount.wanted(9_001, 50)).toBeNull();
  });

  it('tells how far the sending was behind its rate', () => {
    const amount = createAmount({ type: 'rate', perSecond: 1_000, events: 5_000 }, 0);
    amount.wanted(100, 0);
    amount.wanted(105, 105);
    expect(amount.behindMs()).toBe(100 - amount.stepMs);
  });

  it('keeps as many under way as it is told, by what is delivered since its start', () => {
    const amount = createAmount({ type: 'closed', underWay: 100, deliveriesPerEvent: 10 }, 0);
    expect(amount.wanted(0, 0)).toBe(100);
    amount.answered(5_000);
    expect(amount.wanted(1, 100)).toBe(0);
    amount.answered(5_200);
    expect(amount.wanted(2, 100)).toBe(20);
  });
});
