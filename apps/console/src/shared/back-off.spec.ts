import { describe, expect, it } from '@jest/globals';
import { backedOffMs } from './back-off.js';

describe('asking for what somebody waits for', () => {
  it.each([
    [500, 0, 500],
    [500, 29_999, 500],
    [500, 30_000, 5_000],
    [10_000, 60_000, 10_000],
  ])('every %d ms, is done after %d ms every %d ms', (everyMs, waitedMs, expected) => {
    expect(backedOffMs(everyMs, waitedMs)).toBe(expected);
  });
});
