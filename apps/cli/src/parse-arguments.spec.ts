import { describe, expect, it } from '@jest/globals';
import { parseList, parsePositive, parseTime } from './parse-arguments.js';

const usage = expect.objectContaining({ exitCode: 2 });

describe('A time on the command line', () => {
  it.each([
    ['2026-01-31T12:00:00Z', Date.UTC(2026, 0, 31, 12)],
    ['2026-01-31T12:00:00.250+02:00', Date.UTC(2026, 0, 31, 10, 0, 0, 250)],
    ['2026-01-31 12:00:00Z', Date.UTC(2026, 0, 31, 12)],
    ['2028-02-29T12:00Z', Date.UTC(2028, 1, 29, 12)],
    ['1760000000000', 1_760_000_000_000],
    ['0', 0],
  ])('may be %s', (text, expected) => expect(parseTime(text)).toBe(expected));

  it.each([
    ...['2026-01-31', '2026-01-31T12:00:00', 'now', '', '2026-13-01T00:00:00Z', '-5'],
    ...['2026-02-30T00:00:00Z', '2026-02-29T00:00:00Z', '2026-04-31T00:00:00Z'],
  ])('may not be "%s"', (text) => {
    expect(() => parseTime(text)).toThrow(usage);
  });
});

describe('A number on the command line', () => {
  it.each([
    ['5', 5],
    ['0.5', 0.5],
  ])('may be %s', (text, expected) => expect(parsePositive(text)).toBe(expected));

  it.each(['0', '-1', 'x', '', 'Infinity'])('may not be "%s"', (text) => {
    expect(() => parsePositive(text)).toThrow(usage);
  });
});

describe('A list on the command line', () => {
  it('is split at commas', () => expect(parseList('a, b,c')).toEqual(['a', 'b', 'c']));

  it.each(['', 'a,,b', 'a,'])('may not be "%s"', (text) => expect(() => parseList(text)).toThrow(usage));
});
