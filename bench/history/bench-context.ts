import type { createDataSource, PageSource } from '@waypost/database';
import type { StackReporter } from '../../tools/dev-stack/index.js';
import type { BenchFlags } from './bench-flags.js';
import type { HistoryStack } from './stack/history-stack.js';
import type { Projector } from './workers/start-projector.js';

/** What every measurement uses. */
export interface BenchContext {
  readonly flags: BenchFlags;
  readonly stack: HistoryStack;
  readonly calendar: Calendar;
  readonly dataSource: ReturnType<typeof createDataSource>;
  /** As public-api reads. */
  readonly pages: PageSource;
  readonly projector: Projector;
  readonly reporter: StackReporter;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

export const DAY_MS = 86_400_000;
const DAYS = 15;

/** The days of the benchmark; whole UTC days, all epoch milliseconds. */
export interface Calendar {
  /** Fifteen days [fromMs, toMs) that are filled before anything is measured. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The day after them, which is written while pages are read. */
  readonly flowToMs: number;
  /** The day before them, which is past the retention. */
  readonly expiredFromMs: number;
  /** What the clock says: noon of the day that is written. */
  readonly nowMs: number;
}

export function calendarFrom(fromMs: number): Calendar {
  const toMs = fromMs + DAYS * DAY_MS;
  return { fromMs, toMs, flowToMs: toMs + DAY_MS, expiredFromMs: fromMs - DAY_MS, nowMs: toMs + DAY_MS / 2 };
}

/** Fifteen days that end with the day of `todayMs`. */
export function calendarUntil(todayMs: number): Calendar {
  return calendarFrom(Math.floor(todayMs / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS);
}

export function dayName(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '');
}
