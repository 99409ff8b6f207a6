import { MAX_LIMIT } from '../history/history-parameters.js';
import { DEFAULT_LIMIT, MAX_LIST_LIMIT, MAX_PAGE_STATE_LENGTH } from '../page-state/paging.js';
import type { Parameter, Schema } from './openapi-types.js';
import { deliveryEventType, statusCode, uuid } from './schemas.js';

export function queryParameter(name: string, schema: Schema, description: string): Parameter {
  return { name, in: 'query', description, schema };
}

export function requiredParameter(parameter: Parameter): Parameter {
  return { ...parameter, required: true };
}

const instant: Schema = { type: 'string', format: 'date-time' };

export const startDate = queryParameter(
  'startDate',
  instant,
  'Start of the window of first attempts, inclusive: RFC 3339 with a time zone. Clamped to the retention of 15 days.',
);
export const endDate = queryParameter(
  'endDate',
  instant,
  'End of the window, exclusive: RFC 3339 with a time zone. Must be after startDate.',
);
export const eventTypeFilter = queryParameter('eventType', deliveryEventType, 'Only events of this type.');
export const statusCodeFilter = queryParameter(
  'statusCode',
  statusCode,
  "Only deliveries whose last attempt got this code from the subscriber's endpoint.",
);
export const limit = queryParameter(
  'limit',
  { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
  'Most items a page holds.',
);
/** Of lists other than the history's. */
export const listLimit = queryParameter(
  'limit',
  { type: 'integer', minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIMIT },
  'Most items a page holds.',
);
/** A path parameter called `id`. */
export const idOf = (what: string): Parameter => ({
  name: 'id',
  in: 'path',
  required: true,
  description: `Of the ${what}.`,
  schema: uuid,
});
export const subscriptionId = idOf('subscription');
export const pageState = queryParameter(
  'pageState',
  { type: 'string', minLength: 1, maxLength: MAX_PAGE_STATE_LENGTH },
  'Where to go on: from the page before, with all filters as they were. Pages show things as they are when they are read: what no longer matches a filter by then is left out.',
);
