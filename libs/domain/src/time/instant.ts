import { DAY_MS } from './units.js';

/** The last millisecond of the year 9999, the largest time in RFC 3339. */
export const MAX_TIME_MS = 253_402_300_799_999;

const MIN_TIME_MS = -62_167_219_200_000;

/** ISO 8601 in UTC with three decimals and `Z`, 24 characters up to MAX_TIME_MS. */
export function formatTime(timeMs: number): string {
  return timeMs >= 0 && timeMs <= MAX_TIME_MS ? textOfTime(Math.floor(timeMs)) : new Date(timeMs).toISOString();
}

export type ParsedInstant =
  | { readonly type: 'instant'; /** Epoch milliseconds. */ readonly at: number }
  | { readonly type: 'refused'; readonly reason: 'not_a_date_time' | 'no_zone' | 'out_of_range' };

/** Date and time both have their separators, or neither has; only the colon of the zone may be missing by itself. */
function formOf(dash: string, colon: string): RegExp {
  const time = `([01]\\d|2[0-4])(?:${colon}([0-5]\\d)(?:${colon}([0-5]\\d)(?:[.,](\\d+))?)?)?`;
  const zone = '(?:([Zz])|([+-])([01]\\d|2[0-3])(?::?([0-5]\\d))?)?';
  return new RegExp(`^(\\d{4})${dash}(\\d\\d)${dash}(\\d\\d)[Tt]${time}${zone}$`);
}

const EXTENDED = formOf('-', ':');
const BASIC = formOf('', '');
const END_OF_DAY = '24';

/**
 * The zone is required: guessing one would move the window by hours. Leap seconds cannot be stored. Fractions of
 * a millisecond round up: stored times are whole milliseconds, so the window selects the same ones.
 */
export function parseInstant(text: string): ParsedInstant {
  const parts = EXTENDED.exec(text) ?? BASIC.exec(text);
  if (parts === null) return { type: 'refused', reason: 'not_a_date_time' };
  const [, year, month, day, hour = '', minute = '0', second = '0', fraction = '', zulu, sign, zoneHour, zoneMinute] =
    parts;
  const date = [year, month, day].join('-');
  if (hour === END_OF_DAY && Number(minute + second + fraction) > 0) {
    return { type: 'refused', reason: 'not_a_date_time' };
  }
  const midnightAt = Date.parse(`${date}T00:00:00.000Z`);
  // 30 February may parse as 2 March.
  if (Number.isNaN(midnightAt) || !formatTime(midnightAt).startsWith(date)) {
    return { type: 'refused', reason: 'not_a_date_time' };
  }
  if (zulu === undefined && sign === undefined) return { type: 'refused', reason: 'no_zone' };
  const localMs = clockMs(hour, minute, second) + Number(fraction.slice(0, 3).padEnd(3, '0'));
  const zoneMs = sign === undefined ? 0 : Number(`${sign}1`) * clockMs(zoneHour ?? '', zoneMinute ?? '0', '0');
  const at = midnightAt + localMs - zoneMs;
  if (at < MIN_TIME_MS || at > MAX_TIME_MS) return { type: 'refused', reason: 'out_of_range' };
  const hasFinerParts = /[1-9]/.test(fraction.slice(3));
  return { type: 'instant', at: hasFinerParts ? Math.min(at + 1, MAX_TIME_MS) : at };
}

function clockMs(hour: string, minute: string, second: string): number {
  return ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
}

/** Counted from 1 March of the year 0: a year that begins in March ends with its leap day. */
const DAYS_TO_EPOCH = 719_468;
const DAYS_PER_400_YEARS = 146_097;
const DAYS_PER_100_YEARS = 36_524;
const DAYS_PER_4_YEARS = 1_461;
const DAYS_PER_5_MONTHS = 153;

const ZERO = 48;
const DASH = 45;
const COLON = 58;
const POINT = 46;
const T = 84;
const Z = 90;

/** Date.toISOString() at half its cost, for whole milliseconds from 1970 to 9999: every event, id and body has times. */
function textOfTime(timeMs: number): string {
  const days = Math.floor(timeMs / DAY_MS);
  const ms = timeMs - days * DAY_MS;
  const day = days + DAYS_TO_EPOCH;
  const century4 = Math.floor(day / DAYS_PER_400_YEARS);
  const ofEra = day - century4 * DAYS_PER_400_YEARS;
  const leapDays =
    Math.floor(ofEra / (DAYS_PER_4_YEARS - 1)) -
    Math.floor(ofEra / DAYS_PER_100_YEARS) +
    Math.floor(ofEra / (DAYS_PER_400_YEARS - 1));
  const yearOfEra = Math.floor((ofEra - leapDays) / 365);
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / DAYS_PER_5_MONTHS);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = 400 * century4 + yearOfEra + (month <= 2 ? 1 : 0);
  return characters(year, month, ofYear - Math.floor((DAYS_PER_5_MONTHS * fromMarch + 2) / 5) + 1, ms);
}

function characters(year: number, month: number, day: number, ms: number): string {
  const second = Math.floor(ms / 1_000);
  const minute = Math.floor(second / 60);
  return String.fromCharCode(
    ...[digit(year, 1_000), digit(year, 100), digit(year, 10), digit(year, 1), DASH],
    ...[digit(month, 10), digit(month, 1), DASH, digit(day, 10), digit(day, 1), T],
    ...[digit(minute / 60, 10), digit(minute / 60, 1), COLON, digit(minute % 60, 10), digit(minute % 60, 1), COLON],
    ...[digit(second % 60, 10), digit(second % 60, 1), POINT],
    ...[digit(ms % 1_000, 100), digit(ms % 1_000, 10), digit(ms % 1_000, 1), Z],
  );
}

function digit(value: number, place: number): number {
  return ZERO + (Math.floor(value / place) % 10);
}
