import { DAY_MS, formatTime } from '@waypost/domain';

/*
 * Pages are written as text, field by field (decision 0027): a page of 100 deliveries has some thousand values, most of
 * them numbers, times and ids of known form, and building objects of them for a general serializer takes longer.
 */

/** Content type of an answer that is text already; the framework would call it HTML. */
export const JSON_TEXT = 'application/json; charset=utf-8';

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const THREE_DIGITS = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'));

/** `formatTime` in quotes, for the many times of a page, most of which are of the same day. */
export function createTimeText(): (timeMs: number) => string {
  let day = Number.NaN;
  let date = '';
  return (timeMs) => {
    const dayOfTime = Math.floor(timeMs / DAY_MS);
    if (dayOfTime !== day) {
      day = dayOfTime;
      date = formatTime(day * DAY_MS).slice(0, -'00:00:00.000Z'.length);
    }
    const ofDay = timeMs - day * DAY_MS;
    const seconds = Math.floor(ofDay / 1_000);
    const hour = TWO_DIGITS[Math.floor(seconds / 3_600)] ?? '';
    const minute = TWO_DIGITS[Math.floor(seconds / 60) % 60] ?? '';
    const second = TWO_DIGITS[seconds % 60] ?? '';
    return `"${date}${hour}:${minute}:${second}.${THREE_DIGITS[ofDay % 1_000] ?? ''}Z"`;
  };
}

export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** `,"name":value`, or nothing where there is no value. */
export function optionalField(name: string, value: string | number | null): string {
  return value === null ? '' : `,"${name}":${String(value)}`;
}

/** An array of values that have become JSON text. */
export function arrayText(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}
