import { nowMs } from '../shared/clock.js';
import { useHistoryDays } from '../shared/use-history-days.js';
import { firstColumnMs, type Step } from './figures.js';

export interface FigureRange {
  readonly title: string;
  readonly step: Step;
  readonly columns: number;
}

export type RangeName = 'hour' | 'day' | 'retention';
export type FigureRanges = Readonly<Record<RangeName, FigureRange>>;

/** 24 columns, of which the last one has just begun. */
export const DAY: FigureRange = { title: '24 hours', step: 'hour', columns: 24 };

/** The ranges of figures, of which the last one is as long as the history. */
export function useFigureRanges(): FigureRanges {
  const days = useHistoryDays();
  return {
    hour: { title: '1 hour', step: 'minute', columns: 60 },
    day: DAY,
    // A start of yesterday, until the retention is known.
    retention: {
      title: days === null ? 'All' : `${String(days)} days`,
      step: 'day',
      columns: days ?? 2,
    },
  };
}

/** The range that an address names; an hour unless it names one. */
export function rangeNameOf(ranges: FigureRanges, search: string): RangeName {
  const asked = new URLSearchParams(search).get('range') ?? '';
  return Object.hasOwn(ranges, asked) ? (asked as RangeName) : 'hour';
}

export function titlesOf(ranges: FigureRanges): readonly { readonly value: RangeName; readonly title: string }[] {
  return Object.entries(ranges).map(([value, { title }]) => ({ value: value as RangeName, title }));
}

/** The window that ends now, each time that it is asked for. It begins where the API begins to count: with a whole column. */
export function windowOf({ step, columns }: FigureRange) {
  const endMs = nowMs();
  return { startDate: new Date(firstColumnMs(endMs, step, columns)), endDate: new Date(endMs) };
}
