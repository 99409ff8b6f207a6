import { describe, expect, it } from '@jest/globals';
import { openingOf } from './history-entry.js';

const NOW = Date.UTC(2026, 2, 20, 12);
const BEFORE = NOW - 3_600_000;

describe('the opening of a list', () => {
  it('is the one of the entry, also after "back", while its rows are kept', () => {
    const { openedAtMs, change } = openingOf({ openedAtMs: BEFORE, scrollY: 900 }, (atMs) => atMs === BEFORE, NOW);
    expect([openedAtMs, change]).toEqual([BEFORE, {}]);
  });

  it('is a new one at its top when the rows are gone: the old window has others by now', () => {
    const entry = { openedAtMs: BEFORE, scrollY: 900, row: 'van-1' };
    expect(openingOf(entry, () => false, NOW)).toEqual({
      openedAtMs: NOW,
      change: { openedAtMs: NOW, scrollY: 0, row: '' },
    });
  });

  it('is new for an entry that has none, which keeps its place', () => {
    expect(openingOf({ scrollY: 900 }, () => false, NOW)).toEqual({ openedAtMs: NOW, change: { openedAtMs: NOW } });
  });
});
