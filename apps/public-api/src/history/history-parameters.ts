import { DELIVERY_EVENT_TYPES } from '@waypost/domain';
import { dateTime, integer, oneOf } from '../http/parameter-readers.js';
import type { QueryReader } from '../http/query-reader.js';

/** Of a page of deliveries or of points. */
export const MAX_LIMIT = 2_000;

export const eventType = oneOf(DELIVERY_EVENT_TYPES);
/** What a receiver can have answered. */
export const statusCode = integer(100, 999);

/** The window [startDate, endDate); a window that holds nothing is a problem of endDate. */
export function readWindow(
  query: QueryReader,
  need: 'required' | 'optional',
): { startAt: number | undefined; endAt: number | undefined } {
  const startAt = query[need]('startDate', dateTime);
  const endAt = query[need]('endDate', dateTime);
  if (startAt !== undefined && endAt !== undefined && endAt <= startAt) {
    query.problem('endDate', 'must be after startDate');
  }
  return { startAt, endAt };
}
