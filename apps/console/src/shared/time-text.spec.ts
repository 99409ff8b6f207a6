import { describe, expect, it } from '@jest/globals';
import {
  clockText,
  countText,
  dayText,
  durationText,
  exactMomentText,
  isoOfInput,
  localInputText,
  momentText,
  shareText,
} from './time-text.js';

const NOW = Date.UTC(2026, 2, 20, 23, 30);

describe('a moment', () => {
  it('is shown in the zone of the reader, and to the millisecond where moments are compared', () => {
    expect(momentText('2026-03-20T22:03:07.250Z', NOW, 'UTC')).toBe('22:03:07');
    expect(momentText('2026-03-20T22:03:07.250Z', NOW, 'America/New_York')).toBe('18:03:07');
    expect(exactMomentText('2026-03-20T22:03:07.250Z', NOW, 'UTC')).toBe('22:03:07.250');
    expect(exactMomentText('2026-03-19T22:03:07Z', NOW, 'UTC')).toBe('19 Mar 2026, 22:03:07.000');
  });

  it("has its day unless that is today's, where the reader is", () => {
    expect(momentText('2026-03-19T22:03:07.250Z', NOW, 'UTC')).toBe('19 Mar 2026, 22:03:07');
    // In Amsterdam it is the 21st already.
    expect(momentText('2026-03-20T22:03:07.250Z', NOW, 'Europe/Amsterdam')).toBe('20 Mar 2026, 23:03:07');
  });
});

describe('an input of a date and time', () => {
  it('has the moment that a browser reads from it again', () => {
    expect(new Date(localInputText('2026-03-20T22:03:07.000Z')).toISOString()).toBe('2026-03-20T22:03:07.000Z');
    expect(localInputText('')).toBe('');
  });

  it('stands for the moment that it was filled with until another one is written into it', () => {
    const filled = '2026-03-20T22:00:00.250Z';
    const [text, other] = [localInputText(filled), localInputText('2026-03-20T23:00:00.000Z')];
    // Browsers leave out seconds of zero.
    expect([text, text.slice(0, 16)].map((one) => isoOfInput(one, filled))).toEqual([filled, filled]);
    expect(isoOfInput(other, filled)).toBe('2026-03-20T23:00:00.000Z');
    expect([isoOfInput(text), isoOfInput('', filled)]).toEqual(['2026-03-20T22:00:00.000Z', '']);
  });

  it('is none while its text is no time, as with a fifth digit of the year', () => {
    expect(isoOfInput('20266-03-20T14:00')).toBe('');
  });

  it.each([
    ['9999-12-31T11:59:59Z', '9999-12-31T11:59:59.000Z'],
    ['10000-01-01T00:00', ''],
    // As one far behind UTC writes it, where the year has ended by then.
    ['9999-12-31T23:59:59-12:00', ''],
  ])('has a year of four digits, in UTC as well: %j stands for %j', (text, iso) => {
    expect(isoOfInput(text)).toBe(iso);
  });
});

describe('a duration', () => {
  it.each([
    [0, '0 ms'],
    [12.4, '12 ms'],
    [999, '999 ms'],
    [1_000, '1 s'],
    [1_254, '1.25 s'],
    [60_000, '1 min'],
    [250_000, '4 min 10 s'],
    [3_600_000, '1 h'],
    [12_059_000, '3 h 20 min'],
    [2 * 86_400_000 + 3_599_000, '2 d'],
    [2 * 86_400_000 + 5 * 3_600_000, '2 d 5 h'],
  ])('of %d ms is written as %j', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});

describe('an axis of time', () => {
  it('has the clock and the day of the reader', () => {
    expect(clockText('2026-03-20T22:03:07.250Z', 'America/New_York')).toBe('18:03');
    expect(dayText('2026-03-20T23:30:00.000Z', 'Europe/Amsterdam')).toBe('21 Mar');
  });
});

describe('a share', () => {
  it.each([
    [1, '100 %'],
    [0.999_999, '99.99 %'],
    [0.5, '50 %'],
    [0, '0 %'],
  ])('of %d is written as %j: all of it only when it is', (share, text) => {
    expect(shareText(share)).toBe(text);
  });

  it('of thousands is grouped', () => {
    expect(countText(12_345)).toBe('12,345');
  });
});
