import { describe, expect, it } from '@jest/globals';
import { eventId } from '@waypost/domain';
import { IdTable, PARTS } from './id-table.js';

const idAt = (eventTime: number): string =>
  eventId({ fleetId: 'f', subscriptionId: 's', deviceId: 'd', eventType: 'position', eventTime });
const NIL = '00000000-0000-0000-0000-000000000000';

describe.each([
  ['of ids', { withNumbers: false }],
  ['of ids with numbers', { withNumbers: true }],
])('a table %s', (_, options) => {
  it('has what was added, once, and nothing else, however far it grows', () => {
    const table = new IdTable(options);
    const ids = Array.from({ length: 20_000 }, (_id, n) => idAt(n));
    for (const id of [...ids, ...ids]) table.add(id);
    expect(table.size).toBe(20_000);
    expect(ids.filter((id) => !table.has(id))).toEqual([]);
    const others = Array.from({ length: 20_000 }, (_id, n) => idAt(20_000 + n));
    expect(others.filter((id) => table.has(id))).toEqual([]);
    expect(table.bytes).toBe(32_768 * (options.withNumbers ? 20 : 16));
  });

  it('tells ids apart that differ in a single digit', () => {
    const id = idAt(0);
    const places = Array.from({ length: id.length }, (_place, at) => at).filter((at) => id[at] !== '-');
    const others = places.map((at) => id.slice(0, at) + (id[at] === '0' ? '1' : '0') + id.slice(at + 1));
    const table = new IdTable(options);
    table.add(id);
    expect(others.filter((other) => table.has(other))).toEqual([]);
    for (const other of others) table.add(other);
    expect(table.size).toBe(1 + 32);
    expect([id, ...others].filter((each) => !table.has(each))).toEqual([]);
  });

  it('takes ids of any kind', () => {
    const ids = ['', 'event-1', 'event-2', NIL, idAt(0)];
    const table = new IdTable(options);
    for (const [at, id] of ids.entries()) {
      expect(table.has(id)).toBe(false);
      table.add(id);
      expect(table.size).toBe(at + 1);
    }
    expect(ids.filter((id) => !table.has(id))).toEqual([]);
  });

  it('keeps the ids of some parts, into which ids of any kind are spread evenly', () => {
    const table = new IdTable(options);
    const ids = Array.from({ length: 2_000 }, (_id, n) => (n % 2 === 0 ? idAt(n) : `event-${String(n)}`));
    for (const [n, id] of ids.entries()) table.add(id, n);
    const kept = table.below(PARTS / 4);
    const expected = ids.filter((id) => table.partOf(id) < PARTS / 4);
    expect(ids.filter((id) => kept.has(id))).toEqual(expected);
    expect(kept.size).toBe(expected.length);
    expect(expected.length).toBeGreaterThan(400);
    expect(expected.length).toBeLessThan(600);
    if (options.withNumbers) for (const id of expected) expect(kept.numberOf(id)).toBe(ids.indexOf(id));
  });
});

describe('the numbers of a table of ids', () => {
  it('are those that were given last', () => {
    const table = new IdTable({ withNumbers: true });
    expect(table.numberOf(idAt(0))).toBeUndefined();
    for (let n = 0; n < 1_000; n++) table.add(idAt(n), n);
    table.add(idAt(7), PARTS - 1);
    expect([0, 7, 999, 1_000].map((n) => table.numberOf(idAt(n)))).toEqual([0, PARTS - 1, 999, undefined]);
  });
});
