import { describe, expect, it } from '@jest/globals';
import { parseRetryAfter } from './retry-after.js';

/** Sunday */
const NOW = Date.UTC(1994, 10, 6, 8, 49, 30);

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['7', 7_000],
    [' 120 ', 120_000],
    ['007', 7_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 7_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 7_000],
    ['Sun Nov  6 08:49:37 1994', 7_000],
    ['Sun, 06 Nov 1994 08:49:60 GMT', 30_000],
    ['Sun, 06 Nov 1994 08:49:30 GMT', 0],
    ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
  ])('reads "%s" as a wait of %d ms', (value, waitMs) => expect(parseRetryAfter(value, NOW)).toBe(waitMs));

  it('reads the dates of every month, in each of the three forms', () => {
    for (let month = 0; month < 12; month++) {
      const date = new Date(Date.UTC(1995, month, 7, 8, 9, 10));
      const [, day, name] = /, (\d\d) (\w{3})/.exec(date.toUTCString()) ?? [];
      const waitMs = date.getTime() - NOW;
      expect(parseRetryAfter(date.toUTCString(), NOW)).toBe(waitMs);
      expect(parseRetryAfter(`Someday, ${String(day)}-${String(name)}-95 08:09:10 GMT`, NOW)).toBe(waitMs);
      expect(parseRetryAfter(`Sat ${String(name)}  7 08:09:10 1995`, NOW)).toBe(waitMs);
    }
  });

  it('reads a number of seconds of any length', () => {
    expect(parseRetryAfter('9'.repeat(400), NOW)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('takes two-digit years more than 50 years ahead for the century before', () => {
    const now = Date.UTC(2024, 0, 1);

    expect(parseRetryAfter('Monday, 01-Jan-74 00:00:00 GMT', now)).toBe(Date.UTC(2074, 0, 1) - now);
    expect(parseRetryAfter('Wednesday, 01-Jan-75 00:00:00 GMT', now)).toBe(0);
  });

  it.each([
    '',
    '-5',
    '+5',
    '1.5',
    '5s',
    '0x10',
    'soon',
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:49:37 CET',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nix 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
  ])('makes nothing of "%s"', (value) => expect(parseRetryAfter(value, NOW)).toBeNull());
});
