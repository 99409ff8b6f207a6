import { DomainError } from '../domain-error.js';

/** the first attempt counts. */
export const MAX_ATTEMPTS = 5;

/** applies to the jitter and to what the receiver asks for. */
export const MAX_RETRY_DELAY_MS = 15_000;

const BASE_DELAYS_MS = [2_000, 4_000, 8_000, 15_000] as const;

/**
 * the wait after failed attempt 1 to MAX_ATTEMPTS - 1.
 * @param random uniform in [0, 1)
 */
export function retryDelayMs(attempt: number, random: number): number {
  const baseMs = BASE_DELAYS_MS[attempt - 1];
  if (baseMs === undefined) {
    throw new DomainError(
      'attempt_out_of_range',
      `No retry follows attempt ${String(attempt)}: ask decideAttempt first.`,
    );
  }
  return Math.min(Math.round(baseMs * (0.8 + 0.4 * random)), MAX_RETRY_DELAY_MS);
}

const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const CLOCK = '([01]\\d|2[0-3]):([0-5]\\d):([0-5]\\d|60)';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const IMF_DATE = new RegExp(`^${DAY_NAME}, (\\d\\d) ([A-Z][a-z]{2}) (\\d{4}) ${CLOCK} GMT$`);
const RFC_850_DATE = new RegExp(`^[A-Z][a-z]{5,8}, (\\d\\d)-([A-Z][a-z]{2})-(\\d\\d) ${CLOCK} GMT$`);
const ASCTIME_DATE = new RegExp(`^${DAY_NAME} ([A-Z][a-z]{2}) ([ \\d]\\d) ${CLOCK} (\\d{4})$`);

/**
 * Milliseconds from `nowMs`, 0 for a time in the past; null when it is neither seconds nor an HTTP date (RFC 9110, 10.2.3).
 * Not by Date.parse(), which reads "-5" as the month of May.
 */
export function parseRetryAfter(value: string, nowMs: number): number | null {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const dateMs = parseHttpDate(text, nowMs);
  return dateMs === null ? null : Math.max(0, dateMs - nowMs);
}

function parseHttpDate(text: string, nowMs: number): number | null {
  const imf = IMF_DATE.exec(text);
  if (imf !== null) {
    const [, day, month, year, ...clock] = imf;
    return dateMsOf(Number(year), month, day, clock);
  }
  const rfc850 = RFC_850_DATE.exec(text);
  if (rfc850 !== null) {
    const [, day, month, year, ...clock] = rfc850;
    return dateMsOf(fullYear(Number(year), nowMs), month, day, clock);
  }
  const asctime = ASCTIME_DATE.exec(text);
  if (asctime !== null) {
    const [, month, day, hour, minute, second, year] = asctime;
    return dateMsOf(Number(year), month, day, [hour, minute, second]);
  }
  return null;
}

/** RFC 9110: two digits more than 50 years ahead mean the century before. */
function fullYear(twoDigits: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}

function dateMsOf(
  year: number,
  monthName: string | undefined,
  day: string | undefined,
  [hour, minute, second]: readonly (string | undefined)[],
): number | null {
  const month = MONTHS.indexOf(monthName ?? '');
  const date = new Date(0);
  // Date.UTC() reads the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month, Number(day));
  if (month === -1 || date.getUTCMonth() !== month) return null;
  return date.setUTCHours(Number(hour), Number(minute), Number(second));
}
