import { useMemo, useState } from 'react';
import { nowMs } from './clock.js';

/** What a page keeps with its entry of the browser's history, so that "back" shows it as it was left. */
export interface HistoryEntry {
  /** When the list of the page was asked for: its window, and its rows, do not move after that. */
  readonly openedAtMs?: number;
  readonly scrollY?: number;
  /** The row from which another page was opened. */
  readonly row?: string;
}

export function readEntry(): HistoryEntry {
  return (history.state ?? {}) as HistoryEntry;
}

export function changeEntry(change: HistoryEntry): void {
  history.replaceState({ ...readEntry(), ...change }, '');
}

/** A page that is loaded again shows what there is by then: its list is another one. */
export function forgetOpeningOnReload(): void {
  const [navigation] = performance.getEntriesByType('navigation');
  const { openedAtMs, ...kept } = readEntry();
  if ((navigation as PerformanceNavigationTiming | undefined)?.type !== 'reload' || openedAtMs === undefined) return;
  history.replaceState(kept, '');
}

interface Opening {
  readonly openedAtMs: number;
  /** What it changes of the entry. */
  readonly change: HistoryEntry;
}

/**
 * The opening that an entry has, while the rows of its list are kept, else a new one: the same window read again has other rows by
 * then, at other places.
 */
export function openingOf(
  { openedAtMs: known, row }: HistoryEntry,
  isKept: (openedAtMs: number) => boolean,
  nowMs: number,
): Opening {
  if (known === undefined) return { openedAtMs: nowMs, change: { openedAtMs: nowMs } };
  if (isKept(known)) return { openedAtMs: known, change: {} };
  return { openedAtMs: nowMs, change: { openedAtMs: nowMs, scrollY: 0, ...(row !== undefined && { row: '' }) } };
}

/** The time from which the list of this address counts: the same after "back", another one after a refresh or a reload. */
export function useOpening(
  address: string,
  isKept: (openedAtMs: number) => boolean,
): readonly [openedAtMs: number, refresh: () => void] {
  const [refreshes, setRefreshes] = useState(0);
  const openedAtMs = useMemo(() => {
    const opening = openingOf(readEntry(), isKept, nowMs());
    changeEntry(opening.change);
    return opening.openedAtMs;
    // Each address and each refresh is a list of its own.
  }, [address, refreshes]);

  function refresh(): void {
    changeEntry({ openedAtMs: nowMs(), scrollY: 0 });
    setRefreshes(refreshes + 1);
  }

  return [openedAtMs, refresh];
}
