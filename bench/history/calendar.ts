export const DAY_MS = 86_400_000;
const DAYS = 15;

/** The days of the benchmark; whole UTC days, all epoch milliseconds. */
export interface Calendar {
  /** Fifteen days [fromMs, toMs) that are filled before anything is measured. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The day behind them, which is written while pages are read. */
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
export const calendarUntil = (todayMs: number): Calendar =>
  calendarFrom(Math.floor(todayMs / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS);

export const dayName = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '');
