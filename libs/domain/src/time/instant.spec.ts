import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatTime, MAX_TIME_MS, parseInstant } from './instant.js';

describe('formatTime (R-11)', () => {
  it.each([
    [0, '1970-01-01T00:00:00.000Z'],
    [1_714_564_800_001, '2024-05-01T12:00:00.001Z'],
    [MAX_TIME_MS, '9999-12-31T23:59:59.999Z'],
    [951_782_400_000, '2000-02-29T00:00:00.000Z'],
    [4_107_542_400_000, '2100-03-01T00:00:00.000Z'],
    [-1, '1969-12-31T23:59:59.999Z'],
  ])('writes %d as %s', (timeMs, text) => expect(formatTime(timeMs)).toBe(text));

  it('writes any time as Date does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_TIME_MS }), (timeMs) => {
        expect(formatTime(timeMs)).toBe(new Date(timeMs).toISOString());
      }),
      { numRuns: 2_000 },
    );
  });

  it('writes the first and the last moment of every month as Date does', () => {
    const times = Array.from({ length: 12 * 8_030 }, (_, month) => Date.UTC(1970, month))
      .flatMap((firstMs) => [firstMs - 1, firstMs, firstMs + 1])
      .filter((timeMs) => timeMs <= MAX_TIME_MS);

    expect(times.filter((timeMs) => formatTime(timeMs) !== new Date(timeMs).toISOString())).toEqual([]);
  });

  it.each([NaN, Infinity, 8.64e15 + 1])('refuses %d as Date does', (timeMs) => {
    expect(() => formatTime(timeMs)).toThrow(RangeError);
  });
});

describe('parseInstant (R-31)', () => {
  it.each([
    ['2024-05-01T12:00:00Z', '2024-05-01T12:00:00.000Z'],
    ['2024-05-01t12:00:00z', '2024-05-01T12:00:00.000Z'],
    ['2024-05-01T12:00:00+02:00', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01T00:15:00+05:45', '2024-04-30T18:30:00.000Z'],
    ['2024-12-31T23:00:00-03:00', '2025-01-01T02:00:00.000Z'],
    ['2024-05-01T12:00:00-00:00', '2024-05-01T12:00:00.000Z'],
    ['2024-02-29T00:00:00.5Z', '2024-02-29T00:00:00.500Z'],
    ['2024-05-01T12:00Z', '2024-05-01T12:00:00.000Z'],
    ['2024-05-01T12:00+02:00', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01T12:00:00+0000', '2024-05-01T12:00:00.000Z'],
    ['2024-05-01T12:00:00+00', '2024-05-01T12:00:00.000Z'],
    ['2024-05-01T12:00:00+0545', '2024-05-01T06:15:00.000Z'],
    ['2024-05-01T12:00-03', '2024-05-01T15:00:00.000Z'],
    ['2024-05-01T12:00:00,25Z', '2024-05-01T12:00:00.250Z'],
    ['20240501T120000Z', '2024-05-01T12:00:00.000Z'],
    ['20240501T120000.5+0200', '2024-05-01T10:00:00.500Z'],
    ['20240501T1200+02:00', '2024-05-01T10:00:00.000Z'],
    ['20240501T12-03', '2024-05-01T15:00:00.000Z'],
    ['2024-05-01T12Z', '2024-05-01T12:00:00.000Z'],
    ['2024-05-01T12+0545', '2024-05-01T06:15:00.000Z'],
    ['2024-05-01T24:00:00Z', '2024-05-02T00:00:00.000Z'],
    ['2024-12-31T24:00:00.000-03:00', '2025-01-01T03:00:00.000Z'],
    ['20240501T24Z', '2024-05-02T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
  ])('reads %s', (text, expected) => expect(parseInstant(text)).toEqual({ type: 'instant', at: Date.parse(expected) }));

  it.each([
    ['2024-05-01T12:00:00.1230Z', '2024-05-01T12:00:00.123Z'],
    ['2024-05-01T12:00:00.123000001Z', '2024-05-01T12:00:00.124Z'],
    ['2024-05-01T14:00:00.123456+02:00', '2024-05-01T12:00:00.124Z'],
    ['2024-12-31T23:59:59.9991Z', '2025-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.9999Z', '9999-12-31T23:59:59.999Z'],
  ])('rounds %s up to the millisecond %s, so that a window keeps what begins or ends it', (text, expected) =>
    expect(parseInstant(text)).toEqual({ type: 'instant', at: Date.parse(expected) }),
  );

  it.each(['2024-05-01T12:00', '2024-05-01T12:00:00', '2024-05-01T12:00:00.000'])('refuses %s: no zone', (text) => {
    expect(parseInstant(text)).toEqual({ type: 'refused', reason: 'no_zone' });
  });

  it.each(['0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'])('refuses %s: out of range', (text) => {
    expect(parseInstant(text)).toEqual({ type: 'refused', reason: 'out_of_range' });
  });

  it.each([
    '',
    'yesterday',
    '2024-05-01',
    '2024-05-01 12:00:00Z',
    '2024-05-01T12:00:00 00:00',
    '2024-05-01T12:00.5Z',
    '2024-05-01T12:00:00+2',
    '2024-05-01T12:00:00+020',
    '2024-05-01T12:00:00+0260',
    '2024-05-01T12:00:00.Z',
    '2024-05-01T24:00:01Z',
    '2024-05-01T24:00:00.001Z',
    '2024-05-01T25:00:00Z',
    '20240501T12:00:00Z',
    '2024-05-01T120000Z',
    '2024-05-01T12:0000Z',
    '20240501T1200:00Z',
    '2024-0501T12:00:00Z',
    '202405-01T120000Z',
    '2024-122T12:00:00Z',
    '2024122T120000Z',
    '2024-W18-3T12:00:00Z',
    '2024-05T12:00:00Z',
    '2024-05-01T23:60:00Z',
    '2016-12-31T23:59:60Z',
    '2024-05-01T12:00:00+24:00',
    '2024-13-01T12:00:00Z',
    '2024-00-01T12:00:00Z',
    '2024-04-31T12:00:00Z',
    '2023-02-29T12:00:00Z',
    '2024-05-00T12:00:00Z',
    '24-05-01T12:00:00Z',
    '+012024-05-01T12:00:00Z',
    ' 2024-05-01T12:00:00Z',
    '2024-05-01T12:00:00Z\n',
    '1714564800000',
    '２０２４-05-01T12:00:00Z',
  ])('refuses %j: not a date-time', (text) => {
    expect(parseInstant(text)).toEqual({ type: 'refused', reason: 'not_a_date_time' });
  });

  it('reads back what formatTime writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_TIME_MS }), (at) => {
        expect(parseInstant(formatTime(at))).toEqual({ type: 'instant', at });
      }),
    );
  });
});
