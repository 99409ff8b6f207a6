import { describe, expect, it } from '@jest/globals';
import { countText, durationText } from './prose.js';

describe('limits in descriptions of the API', () => {
  it.each([
    [3_000, '3 seconds'],
    [60_000, '60 seconds'],
    [120_000, '2 minutes'],
    [86_400_000, '24 hours'],
    [16 * 86_400_000, '16 days'],
  ])('name durations in the unit that people use: %d ms', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it('have separators in large numbers', () => {
    expect(countText(20_000)).toBe('20,000');
  });
});
