import { describe, expect, it } from '@jest/globals';
import { mayDisable } from './may-disable.js';

describe('A subscription whose deliveries only fail', () => {
  it.each([
    ['active', 1_000, 2_000, true],
    ['active', 2_000, 2_000, true],
    ['active', 2_001, 2_000, false],
    ['paused', 1_000, 2_000, false],
    ['disabled', 1_000, 2_000, false],
  ])('is %s since %d: an event of %d disables it: %s', (status, updatedAt, occurredAt, expected) => {
    expect(mayDisable({ status, updatedAt }, { occurredAt }, occurredAt)).toBe(expected);
  });

  it.each([
    ['five minutes', 300_000, true],
    ['more than that, in which it may have recovered', 300_001, false],
  ])('is disabled by an event that is as old as %s (%d ms): %s', (_, ageMs, expected) => {
    expect(mayDisable({ status: 'active', updatedAt: 1_000 }, { occurredAt: 2_000 }, 2_000 + ageMs)).toBe(expected);
  });
});
