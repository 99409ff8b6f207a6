import { MAX_ID_LENGTH, PAYLOAD_FORMATS } from '@waypost/domain';
import type { PathItem, Schema } from './openapi-types.js';
import { endDate, limit, pageState, queryParameter, startDate, statusCodeFilter } from './parameters.js';
import { errors, jsonResponse } from './responses.js';
import {
  arrayOf,
  attemptNumber,
  dateTime,
  deliveryEventType,
  durationMs,
  nextPageState,
  objectSchema,
  reference,
  statusCode,
  text,
  uuid,
} from './schemas.js';

const STATUSES = ['delivered', 'failed', 'pending'];

const attempt = objectSchema(
  {
    attempt: attemptNumber,
    startedAt: dateTime,
    durationMs,
    statusCode,
    error: { type: 'string', description: 'Why there is no status code, for example timeout.' },
  },
  ['statusCode', 'error'],
);

const delivery = objectSchema(
  {
    status: { type: 'string', enum: STATUSES },
    statusCode: { ...statusCode, description: 'Of the last attempt; absent when it got no answer.' },
    attemptCount: attemptNumber,
    firstAttemptAt: dateTime,
    lastAttemptAt: dateTime,
    nextAttemptAt: { ...dateTime, description: 'Only while pending.' },
    attempts: arrayOf(attempt),
  },
  ['statusCode', 'nextAttemptAt'],
);

export const v2Schemas: Readonly<Record<string, Schema>> = {
  V2Event: objectSchema(
    {
      eventId: { ...uuid, description: 'The same on every attempt and in the payload.' },
      eventType: deliveryEventType,
      eventTime: dateTime,
      deviceId: text,
      subscriptionId: text,
      format: { type: 'string', enum: PAYLOAD_FORMATS },
      payload: { type: 'object', description: 'The JSON as it was pushed, in this format.' },
      body: { type: 'string', description: 'Only with `include=body`: the exact text that was pushed.' },
      delivery,
    },
    ['body'],
  ),
};

const page = objectSchema({ data: arrayOf(reference('V2Event')), nextPageState });

export const v2Paths: Readonly<Record<string, PathItem>> = {
  '/public/v2/events': {
    get: {
      operationId: 'listEvents',
      summary: 'Delivery history',
      description:
        'Deliveries in the order of their first attempt, newest last, with the payload as it was pushed. Without startDate: from the start of the retention of 15 days; without endDate: to the newest.',
      tags: ['History'],
      parameters: [
        startDate,
        endDate,
        {
          ...queryParameter(
            'eventType',
            arrayOf(deliveryEventType),
            'Only events of these types; give it once for each.',
          ),
          style: 'form',
          explode: true,
        },
        queryParameter(
          'deviceId',
          // No control characters: such an id is none.
          { type: 'string', minLength: 1, maxLength: MAX_ID_LENGTH, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' },
          'Only events of this device.',
        ),
        queryParameter('subscriptionId', uuid, 'Only deliveries to this subscription.'),
        queryParameter('eventId', uuid, 'Only this event.'),
        statusCodeFilter,
        queryParameter('status', { type: 'string', enum: STATUSES }, 'Only deliveries that stand so.'),
        queryParameter('include', { type: 'string', enum: ['body'] }, 'Adds the exact text that was pushed.'),
        limit,
        pageState,
      ],
      responses: { '200': jsonResponse('A page of deliveries.', page), ...errors() },
    },
  },
};
