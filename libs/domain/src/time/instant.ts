import { textOfTime } from './text-of-time.js';

/** The largest time that an RFC 3339 date-time can name: the last millisecond of the year 9999, in epoch milliseconds. */
export const MAX_TIME_MS = 253_402_300_799_999;

const MIN_TIME_MS = -62_167_219_200_000;

/** ISO 8601 in UTC with three decimals and `Z`, always 24 characters for times from 0 to MAX_TIME_MS. */
export function formatTime(timeMs: number): string {
  return timeMs >= 0 && timeMs <= MAX_TIME_MS ? textOfTime(Math.floor(timeMs)) : new Date(timeMs).toISOString();
}

export type ParsedInstant =
  | { readonly type: 'instant'; /** Epoch milliseconds. */ readonly at: number }
  | { readonly type: 'refused'; readonly reason: 'not_a_date_time' | 'no_zone' | 'out_of_range' };

const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?(?:([Zz])|([+-])([01]\d|2[0-3]):([0-5]\d))?$/;

/**
 * Reads an RFC 3339 date-time. A zone is required: guessing one would move the window by hours. Digits finer than
 * a millisecond are cut off, because every stored time is a whole millisecond. Leap seconds are refused: no such time
 * can be stored. Years before 1970 are taken, as a window may start before the retention does.
 */
export function parseInstant(text: string): ParsedInstant {
  const parts = DATE_TIME.exec(text);
  if (parts === null) return { type: 'refused', reason: 'not_a_date_time' };
  const [, date = '', hour = '', minute = '', second = '', fraction = '', zulu, sign, zoneHour, zoneMinute] = parts;
  const midnightAt = Date.parse(`${date}T00:00:00.000Z`);
  // 30 February may be read as 2 March instead of being refused.
  if (Number.isNaN(midnightAt) || !formatTime(midnightAt).startsWith(date)) {
    return { type: 'refused', reason: 'not_a_date_time' };
  }
  if (zulu === undefined && sign === undefined) return { type: 'refused', reason: 'no_zone' };
  const localMs = clockMs(hour, minute, second) + Number(fraction.slice(0, 3).padEnd(3, '0'));
  const zoneMs = sign === undefined ? 0 : Number(`${sign}1`) * clockMs(zoneHour ?? '', zoneMinute ?? '', '0');
  const at = midnightAt + localMs - zoneMs;
  if (at < MIN_TIME_MS || at > MAX_TIME_MS) return { type: 'refused', reason: 'out_of_range' };
  return { type: 'instant', at };
}

function clockMs(hour: string, minute: string, second: string): number {
  return ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
}
