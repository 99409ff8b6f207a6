import { describe, expect, it } from '@jest/globals';
import { activeFilters, type FilterNames } from './active-filters.js';
import { filtersOf, searchOf } from './delivery-filters.js';

const ID = '0b0e8f0a-0000-4000-8000-000000000000';
const NAMES: FilterNames = { window: 'Last hour', subscription: (id) => `that of ${id}` };

function shown(search: string, isLive = false): string[] {
  return activeFilters(filtersOf(search), isLive, NAMES).map(({ label, value }) => `${label}: ${value}`);
}

describe('the filters in effect', () => {
  it('are those of the address, each by itself', () => {
    const search = `status=failed&eventType=position&eventType=test&deviceId=van-7&subscriptionId=${ID}&statusCode=503`;
    expect(shown(`${search}&eventId=${ID}&payload=a:b&range=1h&order=asc`)).toEqual([
      'First attempt: Last hour',
      'Event type: position',
      'Event type: test',
      'Status: failed',
      'Device: van-7',
      `Subscription: that of ${ID}`,
      'Status code: 503',
      `Event id: ${ID}`,
      'Payload field: a:b',
    ]);
  });

  it('are none for the usual window, whatever the order', () => {
    expect(shown('order=asc')).toEqual([]);
  });

  it('are those that one attempt can be judged by in a live tail (R-41)', () => {
    expect(shown(`range=1h&payload=a:b&eventId=${ID}&status=failed`, true)).toEqual(['Status: failed']);
  });

  it.each([
    ['range=1h&status=failed', 'status=failed'],
    ['from=2026-03-19T09:00:00.000Z&status=failed', 'status=failed'],
    ['eventType=position&eventType=test&order=asc', 'eventType=test&order=asc'],
    ['deviceId=van-7&order=asc', 'order=asc'],
  ])('go one at a time: of %s the first leaves %s', (search, left) => {
    const [first] = activeFilters(filtersOf(search), false, NAMES);
    expect(searchOf(first?.without ?? filtersOf(search))).toBe(left);
  });
});
