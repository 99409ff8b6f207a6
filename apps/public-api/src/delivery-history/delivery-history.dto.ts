import { z } from 'zod';
import { DELIVERY_EVENT_TYPES, RETENTION_DAYS } from '@waypost/domain';
import { instant, NO_CONTROL_CHARACTERS, oneOf, parameterText, statusCode, wholeNumber } from '../endpoint/fields.js';

export const LIMIT_DESCRIPTION =
  'Maximum items per page. A page of large items may have fewer; only a page without a token is the last.';

const MAX_EVENT_TYPE_LENGTH = 64;

/** Any text: a type that this release does not know finds nothing. */
export const eventTypeFilter = parameterText(MAX_EVENT_TYPE_LENGTH).meta({
  pattern: NO_CONTROL_CHARACTERS,
  description: `One of ${DELIVERY_EVENT_TYPES.join(', ')}. \`test\` is an event that was requested with \`/test\`. For any other type the page is empty.`,
});

/** For figures and streams, where a mistaken type would pass for silence. */
export const eventTypeParameter = oneOf(DELIVERY_EVENT_TYPES).meta({
  description: '`test` is an event that was requested with `/test`.',
});

export const startDateParameter = instant().meta({
  description: `Start of the window of first attempts, inclusive: RFC 3339 with a time zone. Clamped to the retention of ${String(RETENTION_DAYS)} days.`,
});
export const endDateParameter = instant().meta({
  description: 'End of the window, exclusive: RFC 3339 with a time zone. Must be after startDate.',
});
export const statusCodeParameter = wholeNumber(100, 999).optional().meta({
  description:
    "Only deliveries whose last attempt got this code from the subscriber's endpoint. A delivery that ended without another attempt, such as an expired one, has no code.",
});

/** Fields of responses that both versions have, under their own names. */
export const deliveryEventType = z
  .enum(DELIVERY_EVENT_TYPES)
  .meta({ description: '`test` is an event that was requested with `/test`.' });
export const attemptNumber = z.int().min(1);
export const durationMs = z.int().min(0);
export const lastStatusCode = statusCode.optional().meta({
  description:
    'Status code of the last line of `attempts`; absent if that attempt got no response, or if the line is an end without an attempt.',
});
/** What `attempts` has where a delivery ended without one. */
export const LINE_WITHOUT_ATTEMPT =
  'If a delivery ended without another attempt, the last line says so, with the `error` `expired`, `subscription_disabled` or `subscription_deleted`.';
export const attemptError = z.string().optional().meta({
  description: 'Why there is no status code, for example timeout.',
});
export const attemptStatusCode = statusCode.optional();
