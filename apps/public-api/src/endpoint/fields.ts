import { z } from 'zod';
import { isUuid, PAGE_TOKEN_LIFETIME_MS, parseInstant } from '@waypost/domain';
import { durationText } from './prose.js';

/*
 * The parts that DTOs are made of. A message continues the name of its field or parameter ("limit must be ...").
 */

/** Control characters mean nothing here, and neither the database nor a Kafka key should meet one. */
export function printableText() {
  return (
    z
      .string()
      .min(1, 'must not be empty')
      // eslint-disable-next-line no-control-regex -- refusing them is the point
      .regex(/^[^\u0000-\u001f\u007f]*$/, 'must not contain control characters')
      // JSON can write half a surrogate pair; a jsonb column cannot.
      .refine((text) => !/\p{Cs}/u.test(text), 'must be well-formed Unicode')
  );
}

export function plainText(max: number) {
  return printableText().max(max, `must be at most ${String(max)} characters`);
}

/** For `refine`: whether all items differ. */
export function unique(items: readonly string[]): boolean {
  return new Set(items).size === items.length;
}

/** For `refine` on the body of a PATCH. */
export function changesSomething(body: object): boolean {
  return Object.keys(body).length > 0;
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, `must be one of ${values.join(', ')}`);
}

export function wholeNumber(
  min: number,
  max: number,
  message = `must be an integer from ${String(min)} to ${String(max)}`,
) {
  return z.int(message).min(min, message).max(max, message);
}

/** 1 to `max` characters, counted in code points as JSON Schema does, with one message for all that can be wrong. */
export function parameterText(
  max: number,
  message = `must be 1 to ${String(max)} characters without control characters`,
) {
  const isFine = (text: string): boolean => {
    const length = text.length <= max ? text.length : Array.from(text).length;
    return length >= 1 && length <= max && !/\p{Cc}/u.test(text);
  };
  return z.string().refine(isFine, message).meta({ minLength: 1, maxLength: max });
}

/** As `pattern` of a JSON Schema. */
export const NO_CONTROL_CHARACTERS = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

/** In lower case, as ids are stored. */
export function uuid(message = 'must be a UUID') {
  return z.string().refine(isUuid, message).toLowerCase().meta({ format: 'uuid' });
}

/** A date and time of ISO 8601 with a zone, documented by its strictest form; its value is epoch milliseconds. */
export function instant() {
  return z
    .string()
    .transform((text, context): number => {
      const parsed = parseInstant(text);
      if (parsed.type === 'instant') return parsed.at;
      // The usual slip: a + that was not encoded arrives as a space.
      const slip = parseInstant(text.replace(' ', '+')).type === 'instant';
      const hint = slip ? ' (write the + of the zone as %2B)' : '';
      const message = `must be a calendar date and time of ISO 8601 with a time zone, for example 2026-03-01T00:00:00Z${hint}`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ format: 'date-time' });
}

interface Window {
  readonly startDate?: number | undefined;
  readonly endDate?: number | undefined;
}

/** For `refine`: an empty window is a problem of endDate, whatever else is wrong. */
export function isWindow({ startDate, endDate }: Window): boolean {
  return startDate === undefined || endDate === undefined || startDate < endDate;
}

export const WINDOW_RULE = {
  path: ['endDate'],
  message: 'must be after startDate',
  when: ({ value, issues }: z.core.ParsePayload) => {
    const { startDate, endDate } = value as Window;
    const areInstants = typeof startDate === 'number' && typeof endDate === 'number';
    return areInstants && !issues.some(({ path }) => path?.[0] === 'startDate' || path?.[0] === 'endDate');
  },
};

/** Fields of responses. */
export const text = z.string();
/** One of these values; stored rows have it as text. */
export function enumText(values: readonly string[]) {
  return z.string().meta({ enum: values });
}
export const uuidText = z.string().meta({ format: 'uuid' });
export const dateTime = z.string().meta({ format: 'date-time', description: 'UTC, with milliseconds.' });
export const statusCode = z.int().min(100).max(999);
export const version = z.int().min(1).meta({ description: 'Counts every change; the `ETag` has the same number.' });
export const nextPageState = z
  .string()
  .nullable()
  .meta({
    description: `Send it as \`pageState\` to get the next page; null on the last one. Valid for ${durationText(PAGE_TOKEN_LIFETIME_MS)}.`,
  });
