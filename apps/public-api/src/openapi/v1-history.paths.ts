import { V1_HISTORY_PATH } from '../v1-history/deprecation.middleware.js';
import type { PathItem, Schema } from './openapi-types.js';
import {
  endDate,
  eventTypeFilter,
  limit,
  pageState,
  requiredParameter,
  startDate,
  statusCodeFilter,
} from './parameters.js';
import { deprecatedResponses, jsonResponse } from './responses.js';
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

const lastStatusCode = { ...statusCode, description: 'Of the last attempt; absent when it got no answer.' };

const attempt = objectSchema(
  {
    attempt: attemptNumber,
    started_at: dateTime,
    duration_ms: durationMs,
    status_code: statusCode,
    error: { type: 'string', description: 'Why there is no status code, for example timeout.' },
  },
  ['status_code', 'error'],
);

export const v1Schemas: Readonly<Record<string, Schema>> = {
  V1Event: objectSchema(
    {
      event_id: uuid,
      event_type: deliveryEventType,
      event_time: dateTime,
      device_id: text,
      subscription_id: text,
      url: text,
      status_code: lastStatusCode,
      body: { type: 'string', description: 'The exact text that was sent: deserialize it to get the payload.' },
      retry_count: { type: 'integer', minimum: 0, description: 'Attempts after the first.' },
      created_at: dateTime,
      last_attempt_at: dateTime,
      delivered_at: { ...dateTime, description: 'Absent unless it was delivered.' },
      attempts: arrayOf(attempt),
    },
    ['status_code', 'delivered_at'],
  ),
};

const page = objectSchema({ events: arrayOf(reference('V1Event')), next_page_state: nextPageState });

export const v1Paths: Readonly<Record<string, PathItem>> = {
  [V1_HISTORY_PATH]: {
    get: {
      operationId: 'listWebhookEventsV1',
      summary: 'Delivery history, version 1',
      description:
        'Deprecated: use `GET /public/v2/events`. Every answer carries the deprecation headers. Newest last.',
      tags: ['History'],
      deprecated: true,
      parameters: [
        requiredParameter(startDate),
        requiredParameter(endDate),
        eventTypeFilter,
        statusCodeFilter,
        limit,
        pageState,
      ],
      responses: deprecatedResponses({ '200': jsonResponse('A page of deliveries.', page) }),
    },
  },
};
