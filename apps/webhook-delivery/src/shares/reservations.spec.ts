import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ReservationCount, Reservations } from './reservations.js';

const TOTAL = 4_096;
const SHARED = 'https://shared.example.org';

function build(perOrigin = TOTAL) {
  const reservations = new Reservations({ total: TOTAL, perOrigin });
  const fleets = new Map<string, ReservationCount>();
  const subscriptions = new Map<string, ReservationCount>();
  const countOf = (counts: Map<string, ReservationCount>, id: string): ReservationCount => {
    const known = counts.get(id) ?? { reserved: 0 };
    counts.set(id, known);
    return known;
  };
  const begin = (fleetId: string, subscriptionId: string, origin = subscriptionId): boolean => {
    const of = [countOf(fleets, fleetId), countOf(subscriptions, subscriptionId), origin] as const;
    if (!reservations.hasRoom(...of)) return false;
    reservations.reserve(...of);
    return true;
  };
  const end = (fleetId: string, subscriptionId: string, origin = subscriptionId): void => {
    reservations.release(countOf(fleets, fleetId), countOf(subscriptions, subscriptionId), origin);
  };
  /** Each in turn begins as many as it may. */
  const fill = (all: readonly (readonly [fleetId: string, subscriptionId: string, origin?: string])[]): void => {
    let hasBegun = true;
    while (hasBegun) hasBegun = all.map((one) => begin(...one)).includes(true);
  };
  const heldBy = (subscriptionId: string): number => countOf(subscriptions, subscriptionId).reserved;
  return { reservations, begin, end, fill, heldBy };
}

function dead(fleets: number): [string, string][] {
  return Array.from({ length: fleets }, (_, i) => [`fleet-${String(i)}`, `dead-${String(i)}`]);
}

describe('reservations (R-22, R-26)', () => {
  it.each([1, 40, 200])('leave room for others beside %d fleets that never finish', (fleets) => {
    const { fill, begin, heldBy } = build();
    fill(dead(fleets));
    for (let i = 0; i < 5; i++) expect(begin('healthy fleet', 'healthy')).toBe(true);
    expect(heldBy('dead-0')).toBeGreaterThanOrEqual(8);
  });

  it('leave room for a subscription beside forty of its own fleet that never finish', () => {
    const { fill, begin } = build();
    fill(dead(40).map(([, subscription]) => ['fleet', subscription]));
    for (let i = 0; i < 10; i++) expect(begin('fleet', 'healthy')).toBe(true);
  });

  it('give a fleet a third of the process at most, however many subscriptions it has', () => {
    const { fill, heldBy } = build();
    const many = dead(40).map(([, subscription]) => ['many', subscription] as const);
    fill([...many, ['one', 'alone']]);
    const ofMany = many.reduce((sum, [, subscription]) => sum + heldBy(subscription), 0);
    expect(ofMany).toBeLessThanOrEqual(TOTAL / 3);
    expect(heldBy('alone')).toBeGreaterThan(TOTAL / 10);
  });

  it('leave two thirds of an origin to others beside one subscription that never finishes', () => {
    const { fill, begin, heldBy } = build(63);
    fill([['fleet', 'dead', SHARED]]);
    expect(heldBy('dead')).toBe(21);
    for (let i = 0; i < 14; i++) expect(begin('other fleet', 'healthy', SHARED)).toBe(true);
  });

  it('leave half of an origin to other fleets beside forty subscriptions of one that never finish', () => {
    const { fill, begin, heldBy } = build(512);
    fill(dead(40).map(([, subscription]) => ['fleet', subscription, SHARED]));
    for (let i = 0; i < 512 / 6; i++) expect(begin('other fleet', 'healthy', SHARED)).toBe(true);
    expect(heldBy('dead-0')).toBeGreaterThanOrEqual(4);
  });

  it('leave room at an origin to a subscription beside forty of its own fleet that never finish there', () => {
    const { fill, begin } = build(512);
    fill(dead(40).map(([, subscription]) => ['fleet', subscription, SHARED]));
    for (let i = 0; i < 2; i++) expect(begin('fleet', 'healthy', SHARED)).toBe(true);
  });

  it('leave room for a subscription beside a hundred of its own fleet that never finish', () => {
    const { fill, begin } = build();
    fill(dead(100).map(([, subscription]) => ['fleet', subscription]));
    expect(begin('fleet', 'newcomer')).toBe(true);
  });

  it('give a fleet with thousands of subscriptions a third of the process, and half of an origin', () => {
    const { reservations, fill, begin } = build();
    fill(dead(5_000).map(([, subscription]) => ['fleet', subscription]));
    expect(reservations.total).toBeLessThanOrEqual(TOTAL / 3 + 1);
    expect(begin('other fleet', 'healthy')).toBe(true);
    const atOrigin = build(512);
    atOrigin.fill(dead(5_000).map(([, subscription]) => ['fleet', subscription, SHARED]));
    expect(atOrigin.reservations.total).toBeLessThanOrEqual(256);
    expect(atOrigin.begin('other fleet', 'healthy', SHARED)).toBe(true);
  });

  it('are all free again when everything has finished, and never exceed their total', () => {
    const step = fc.record({ fleet: fc.nat(3), subscription: fc.nat(5), isEnd: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const { reservations, begin, end } = build(40);
        const begun: [string, string][] = [];
        for (const { fleet, subscription, isEnd } of steps) {
          const oldest = isEnd ? begun.shift() : undefined;
          if (oldest) end(...oldest);
          else if (begin(`f${String(fleet)}`, `s${String(subscription)}`)) {
            begun.push([`f${String(fleet)}`, `s${String(subscription)}`]);
          }
          expect(reservations.total).toBe(begun.length);
        }
        for (const one of begun) end(...one);
        expect(reservations.total).toBe(0);
      }),
    );
  });
});
