import { parseInstant } from '@waypost/domain';
import type { TextReader } from './query-reader.js';

/** Epoch milliseconds. */
export const dateTime: TextReader<number> = (text) => {
  const parsed = parseInstant(text);
  if (parsed.type === 'instant') return { type: 'value', value: parsed.at };
  // The usual slip: a + that was not encoded arrives as a space.
  const slip = parseInstant(text.replace(' ', '+')).type === 'instant';
  const hint = slip ? ' (write the + of the zone as %2B)' : '';
  const message = `must be an RFC 3339 date-time with a time zone, for example 2026-03-01T00:00:00Z${hint}`;
  return { type: 'problem', message };
};

export function integer(min: number, max: number): TextReader<number> {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return { type: 'value', value };
    return { type: 'problem', message: `must be an integer from ${String(min)} to ${String(max)}` };
  };
}

export function oneOf<const T extends string>(values: readonly T[]): TextReader<T> {
  return (text) => {
    const value = values.find((known) => known === text);
    if (value !== undefined) return { type: 'value', value };
    return { type: 'problem', message: `must be one of ${values.join(', ')}` };
  };
}

/** Printable text: control characters name nothing here, and the database takes no U+0000. */
export function text(maxLength: number): TextReader<string> {
  return (given) => {
    // In code points, as JSON Schema counts (the document of this API).
    const length = given.length <= maxLength ? given.length : Array.from(given).length;
    if (length >= 1 && length <= maxLength && !/\p{Cc}/u.test(given)) return { type: 'value', value: given };
    return { type: 'problem', message: `must be 1 to ${String(maxLength)} characters without control characters` };
  };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** In lower case, as ids are stored. */
export const uuid: TextReader<string> = (given) =>
  isUuid(given) ? { type: 'value', value: given.toLowerCase() } : { type: 'problem', message: 'must be a UUID' };
