import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EVENT_TYPES } from '@waypost/client';
import { deliveriesAddress } from '../shared/deliveries-address.js';
import {
  datedFiltersText,
  type DeliveryFilters,
  filtersOf,
  filtersText,
  following,
  queryOf,
  type Range,
  RANGES,
  searchOf,
  STATUSES,
  streamQueryOf,
  windowOf,
} from './delivery-filters.js';

const NOW = Date.UTC(2026, 2, 20, 12);

const maybe = <T extends string>(some: fc.Arbitrary<T>) => fc.oneof(fc.constant('' as const), some);
const times = fc.date({ min: new Date(0), max: new Date(NOW), noInvalidDate: true }).map((date) => date.toISOString());

const anyFilters: fc.Arbitrary<DeliveryFilters> = fc
  .record({
    range: fc.constantFrom(...(Object.keys(RANGES) as Range[])),
    from: maybe(times),
    to: maybe(times),
    eventTypes: fc.subarray([...EVENT_TYPES]),
    status: maybe(fc.constantFrom(...STATUSES)),
    deviceId: fc.string(),
    subscriptionId: maybe(fc.uuid()),
    eventId: maybe(fc.uuid()),
    statusCode: fc.constantFrom('', '200', '503'),
    payload: maybe(
      fc
        .tuple(
          fc.string({ minLength: 1 }).filter((path) => !path.includes(':')),
          fc.string(),
        )
        .map((parts) => parts.join(':')),
    ),
    order: fc.constantFrom('desc' as const, 'asc' as const),
  })
  // A window of its own has no range.
  .map((filters) => (filters.from + filters.to === '' ? filters : { ...filters, range: '1d' as const }));

describe('the address of the deliveries', () => {
  it('gives the same filters again, whatever they hold', () => {
    fc.assert(fc.property(anyFilters, (filters) => expect(filtersOf(`?${searchOf(filters)}`)).toEqual(filters)));
  });

  it('leads to what a figure counts', () => {
    const from = '2026-03-19T13:00:00.000Z';
    const search = deliveriesAddress({ from, status: 'failed' }).split('?')[1] ?? '';
    expect(filtersOf(search)).toEqual({ ...filtersOf(''), from, status: 'failed' });
    expect(searchOf(filtersOf(search))).toBe(search);
    expect(deliveriesAddress({ from: '' })).toBe('/deliveries');
  });

  it('is plain without filters', () => {
    expect(searchOf(filtersOf(''))).toBe('');
  });

  it('leaves out what the API would refuse', () => {
    const search =
      '?range=2y&eventType=teleported&status=lost&statusCode=99&from=yesterday&subscriptionId=1&eventId=x&order=up&payload=van';
    expect(filtersOf(`${search}&deviceId=van-1`)).toEqual({ ...filtersOf(''), deviceId: 'van-1' });
  });
});

describe('the request for deliveries (R-33)', () => {
  it('has the newest first, of the range, with the filters that are set', () => {
    expect(queryOf(filtersOf('?range=1h&eventType=position&eventType=test&statusCode=503'), NOW)).toEqual({
      order: 'desc',
      startDate: '2026-03-20T11:00:00.000Z',
      eventType: ['position', 'test'],
      statusCode: 503,
    });
  });

  it.each([
    ['?from=2026-03-19T08:00:00Z&to=2026-03-19T09:00:00Z', '2026-03-19T08:00:00.000Z', '2026-03-19T09:00:00.000Z'],
    ['?from=2026-03-19T08:00:00Z&range=1h', '2026-03-19T08:00:00.000Z', undefined],
    // Without a start it begins where the history does.
    ['?to=2026-03-19T09:00:00Z', '1970-01-01T00:00:00.000Z', '2026-03-19T09:00:00.000Z'],
    ['?range=all', '1970-01-01T00:00:00.000Z', undefined],
  ])('of %s is of that window, not of a range', (search, startDate, endDate) => {
    expect(queryOf(filtersOf(search), NOW)).toEqual({
      order: 'desc',
      startDate,
      ...(endDate === undefined ? {} : { endDate }),
    });
  });
});

describe('a search of payloads (R-33)', () => {
  it('is part of the request for deliveries, and not of that for the stream', () => {
    const filters = filtersOf('?payload=driverId%3Adriver-46');
    expect(queryOf(filters, NOW)).toMatchObject({ payload: 'driverId:driver-46' });
    expect(streamQueryOf(filters)).toEqual({});
  });
});

describe('the request for the stream of attempts (R-41)', () => {
  it('has the filters that one attempt can be judged by', () => {
    const search = '?range=1h&status=failed&deviceId=van-1&order=asc&eventId=0b0e8f0a-0000-4000-8000-000000000000';
    expect(streamQueryOf(filtersOf(search))).toEqual({ status: 'failed', deviceId: 'van-1' });
  });
});

describe('filters with their window, as text', () => {
  it.each([
    ['?range=15m&status=failed', /^failed, from \d\d Mar 2026, \d\d:45:00 to now$/],
    ['?range=all', /^from the beginning to now$/],
    ['?to=2026-03-19T09:00:00Z', /^from the beginning to \d\d Mar 2026, \d\d:00:00$/],
  ])('of %s name the moments that were meant when the list was opened', (search, text) => {
    const filters = filtersOf(search);
    expect(datedFiltersText(filters, windowOf(filters, NOW))).toMatch(text);
  });
});

describe('a list that ends before its end', () => {
  it('is followed by what is older, as far back as it would have gone', () => {
    const next = following(filtersOf('?range=1h&status=failed'), '2026-03-20T11:40:00.000Z', NOW);
    const expected = 'status=failed&from=2026-03-20T11:00:00.000Z&to=2026-03-20T11:40:00.001Z';
    expect(decodeURIComponent(searchOf(next))).toBe(expected);
  });

  it('is followed by what is newer where the oldest come first', () => {
    const next = following(filtersOf('?range=1h&order=asc'), '2026-03-20T11:20:00.000Z', NOW);
    expect(decodeURIComponent(searchOf(next))).toBe('from=2026-03-20T11:20:00.000Z&order=asc');
    const ended = filtersOf('?to=2026-03-20T11:30:00.000Z&order=asc');
    expect(following(ended, '2026-03-20T11:20:00.000Z', NOW).to).toBe('2026-03-20T11:30:00.000Z');
  });
});

describe('the filters, as text', () => {
  it('do not let the direction of an id go on after it', () => {
    const filters = filtersOf(`?deviceId=${encodeURIComponent('van\u202E1')}`);
    expect(filtersText(filters)).toBe('device \u2068van\u202E1\u2069, last day');
  });
});
