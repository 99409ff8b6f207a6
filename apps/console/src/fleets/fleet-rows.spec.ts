import { describe, expect, it } from '@jest/globals';
import { type FleetTotals, rateText, rowsOf, rowsWith } from './fleet-rows.js';
import type { Fleet } from './use-fleets.js';

const NOON = '2026-03-20T12:00:00.000Z';

function fleet(id: string, name?: string): Fleet {
  const times = { createdAt: NOON, updatedAt: NOON };
  return { id, ...(name !== undefined && { name }), payloadFormat: 'v1', routes: false, version: 1, ...times };
}

function totals(fleetId: string, deliveries: object): FleetTotals['data'][number] {
  return {
    fleetId,
    deliveries: { delivered: 0, failed: 0, expired: 0, pending: 0, ...deliveries },
    attempts: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0, noResponse: 0 },
    retries: 2,
    probes: 0,
  };
}

const WORST = totals('b', { delivered: 60, failed: 20, expired: 10, pending: 30 });

describe('the fleets of an operator', () => {
  it('are the worst first, also such as are not in the list, and then those without deliveries', () => {
    const answer = { data: [WORST, totals('gone', { delivered: 6 })], fleets: 2 };
    const rows = rowsOf([fleet('a'), fleet('b', 'Bee'), fleet('c')], answer, 60);
    expect(rows.map(({ id, fleet: of }) => [id, of?.name])).toEqual([
      ['b', 'Bee'],
      ['gone', undefined],
      ['a', undefined],
      ['c', undefined],
    ]);
    expect(rows.map(({ counts }) => counts?.perMinute)).toEqual([2, 0.1, 0, 0]);
    expect(rows[0]?.counts).toEqual({ all: 120, perMinute: 2, delivered: 60, pending: 30, failed: 30, retries: 2 });
  });

  it.each([
    ['are not known', undefined],
    ['are of the worst only', { data: [WORST], fleets: 2 }],
  ])('have no counts, rather than none, where the figures %s', (_case, answer) => {
    const rows = rowsOf([fleet('a')], answer, 60);
    expect(rows.find(({ id }) => id === 'a')?.counts).toBeNull();
  });

  it('are found by id and name', () => {
    const rows = rowsOf([fleet('acme', 'Trucks'), fleet('other')], undefined, 60);
    expect(rowsWith(' TRUCK', rows).map(({ id }) => id)).toEqual(['acme']);
    expect(rowsWith('', rows)).toHaveLength(2);
  });

  it.each([
    [0, '0'],
    [0.001, '< 0.01'],
    [0.016, '0.02'],
    [12.54, '12.5'],
    [1_250.4, '1,250'],
  ])('have a rate that tells few from none: %d', (rate, text) => expect(rateText(rate)).toBe(text));
});
