import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type DeliveryFilters,
  EVENT_TYPES,
  filtersOf,
  queryOf,
  RANGES,
  searchOf,
  STATUSES,
} from './delivery-filters.js';

const NOW = Date.UTC(2026, 2, 20, 12);

const anyFilters: fc.Arbitrary<DeliveryFilters> = fc.record({
  range: fc.constantFrom(...(Object.keys(RANGES) as DeliveryFilters['range'][])),
  eventType: fc.constantFrom('', ...EVENT_TYPES),
  status: fc.constantFrom('', ...STATUSES),
  deviceId: fc.string(),
  subscriptionId: fc.string(),
  eventId: fc.string(),
  statusCode: fc.constantFrom('', '200', '503'),
});

describe('the address of the deliveries', () => {
  it('gives the same filters again, whatever they hold', () => {
    fc.assert(fc.property(anyFilters, (filters) => expect(filtersOf(`?${searchOf(filters)}`)).toEqual(filters)));
  });

  it('is plain without filters', () => {
    expect(searchOf(filtersOf(''))).toBe('');
  });

  it('leaves out what the API would refuse', () => {
    const search = '?range=2y&eventType=teleported&status=lost&statusCode=99&deviceId=van-1';
    expect(filtersOf(search)).toEqual({ ...filtersOf(''), deviceId: 'van-1' });
  });
});

describe('the request for deliveries', () => {
  it('has the newest first, of the range, with the filters that are set', () => {
    expect(queryOf(filtersOf('?range=1h&eventType=position&statusCode=503'), NOW)).toEqual({
      order: 'desc',
      startDate: '2026-03-20T11:00:00.000Z',
      eventType: ['position'],
      statusCode: 503,
    });
  });
});
