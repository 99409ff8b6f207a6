import { describe, expect, it } from '@jest/globals';
import { eventId } from '@waypost/domain';
import { UuidSet } from './uuid-set.js';

const idAt = (eventTime: number): string =>
  eventId({ fleetId: 'f', subscriptionId: 's', deviceId: 'd', eventType: 'position', eventTime });

describe('a set of UUIDs', () => {
  it('has what was added, once, and nothing else, however far it grows', () => {
    const set = new UuidSet();
    const ids = Array.from({ length: 20_000 }, (_, n) => idAt(n));
    for (const id of [...ids, ...ids]) set.add(id);
    expect(set.size).toBe(20_000);
    expect(ids.filter((id) => !set.has(id))).toEqual([]);
    const others = Array.from({ length: 20_000 }, (_, n) => idAt(20_000 + n));
    expect(others.filter((id) => set.has(id))).toEqual([]);
  });

  it('tells ids apart that differ in a single digit', () => {
    const id = idAt(0);
    const changed = (at: number) => id.slice(0, at) + (id[at] === '0' ? '1' : '0') + id.slice(at + 1);
    const others = [...id].flatMap((digit, at) => (digit === '-' ? [] : changed(at)));
    const set = new UuidSet();
    set.add(id);
    expect(others.filter((other) => set.has(other))).toEqual([]);
    for (const other of others) set.add(other);
    expect(set.size).toBe(1 + 32);
    expect([id, ...others].filter((each) => !set.has(each))).toEqual([]);
  });

  it('leaves out what is no UUID, and the one that is all zeros', () => {
    const set = new UuidSet();
    expect(set.has(idAt(0))).toBe(false);
    set.add(idAt(0));
    for (const text of ['', 'event-1', '00000000-0000-0000-0000-000000000000']) {
      set.add(text);
      expect(set.has(text)).toBe(false);
    }
    expect(set.size).toBe(1);
  });
});
