import { describe, expect, it } from '@jest/globals';
import { freeForFleet } from './fleet-share.js';

describe('the share of a fleet (R-26)', () => {
  it('is half of what is free, less what the fleet has', () => {
    expect(freeForFleet(100, 0, 0)).toBe(50);
    expect(freeForFleet(100, 40, 10)).toBe(20);
  });

  it('ends at a third of the whole for a fleet that is alone', () => {
    expect(freeForFleet(90, 30, 30)).toBe(0);
  });

  it('is nothing for a fleet that has more, as when a predecessor has begun its deliveries', () => {
    expect(freeForFleet(90, 60, 60)).toBeLessThan(0);
  });
});
