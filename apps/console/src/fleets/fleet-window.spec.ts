import { describe, expect, it } from '@jest/globals';
import { columnMinutesOf, totalsWindowOf } from './fleet-window.js';

const window = { startDate: new Date('2026-03-20T11:20:30Z'), endDate: new Date('2026-03-20T12:20:00Z') };

describe('the window of figures of fleets', () => {
  it.each([
    ['minute', 'hour', '2026-03-20T11:00:00.000Z', 80],
    ['hour', 'hour', '2026-03-20T11:00:00.000Z', 80],
    ['day', 'day', '2026-03-20T00:00:00.000Z', 740],
  ] as const)('is by hour at least for the totals of each: columns by %s', (columnStep, step, since, minutes) => {
    expect(totalsWindowOf(window, columnStep)).toEqual({ step, since: new Date(since), minutes });
  });

  it('begins with a whole column for all of them together', () => {
    expect(columnMinutesOf(window, 'minute')).toBe(60);
    expect(columnMinutesOf(window, 'hour')).toBe(80);
  });
});
