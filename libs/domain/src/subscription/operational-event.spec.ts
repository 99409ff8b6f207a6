import { describe, expect, it } from '@jest/globals';
import { mayDisable } from './operational-event.js';

describe('A subscription whose deliveries only fail', () => {
  it.each([
    ['active', 1_000, 2_000, true],
    ['active', 2_000, 2_000, true],
    ['active', 2_001, 2_000, false],
    ['paused', 1_000, 2_000, false],
    ['disabled', 1_000, 2_000, false],
  ])('is %s since %d: an event of %d disables it: %s', (status, updatedAt, occurredAt, expected) => {
    expect(mayDisable({ status, updatedAt }, { occurredAt })).toBe(expected);
  });
});
