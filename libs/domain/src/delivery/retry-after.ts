import { MAX_RETRY_DELAY_MS } from './retry-delay.js';

type Answer =
  | { readonly type: 'response'; readonly statusCode: number; readonly retryAfter?: string | null | undefined }
  | { readonly type: 'error' };

/** How long the receiver asks for a pause, up to the cap. Only these two statuses give `Retry-After` its meaning. */
export function retryAfterMs(result: Answer, endedAt: number): number {
  if (result.type !== 'response' || (result.statusCode !== 429 && result.statusCode !== 503)) return 0;
  return Math.min(parseRetryAfter(result.retryAfter ?? '', endedAt) ?? 0, MAX_RETRY_DELAY_MS);
}

const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const CLOCK = '([01]\\d|2[0-3]):([0-5]\\d):([0-5]\\d|60)';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const IMF_DATE = new RegExp(`^${DAY_NAME}, (\\d\\d) ([A-Z][a-z]{2}) (\\d{4}) ${CLOCK} GMT$`);
const RFC_850_DATE = new RegExp(`^[A-Z][a-z]{5,8}, (\\d\\d)-([A-Z][a-z]{2})-(\\d\\d) ${CLOCK} GMT$`);
const ASCTIME_DATE = new RegExp(`^${DAY_NAME} ([A-Z][a-z]{2}) ([ \\d]\\d) ${CLOCK} (\\d{4})$`);

/** Milliseconds from `nowMs`; null: neither seconds nor an HTTP date (RFC 9110, 10.2.3). To Date.parse(), "-5" is May. */
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

/** RFC 9110: a two-digit year more than 50 years ahead belongs to the century before. */
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
