import { z } from 'zod';
import { MAX_PAGE_ITEMS } from '@waypost/domain';
import {
  attemptError,
  attemptNumber,
  attemptStatusCode,
  deliveryEventType,
  durationMs,
  endDateParameter,
  eventTypeFilter,
  lastStatusCode,
  LIMIT_DESCRIPTION,
  LINE_WITHOUT_ATTEMPT,
  startDateParameter,
  statusCodeParameter,
} from '../delivery-history/delivery-history.dto.js';
import { dto } from '../endpoint/dto.js';
import { dateTime, isWindow, nextPageState, text, uuidText, WINDOW_RULE } from '../endpoint/fields.js';
import { limitParameter, pageStateParameter } from '../paging/paging.dto.js';

export class HistoryV1QueryDto extends dto(
  z
    .object({
      startDate: startDateParameter,
      endDate: endDateParameter,
      eventType: eventTypeFilter.optional(),
      statusCode: statusCodeParameter,
      limit: limitParameter(MAX_PAGE_ITEMS, LIMIT_DESCRIPTION),
      pageState: pageStateParameter,
    })
    .refine(isWindow, WINDOW_RULE),
) {}

const attempt = z.strictObject({
  attempt: attemptNumber,
  started_at: dateTime,
  duration_ms: durationMs,
  status_code: attemptStatusCode,
  error: attemptError,
});

const event = z
  .strictObject({
    event_id: uuidText,
    event_type: deliveryEventType,
    event_time: dateTime,
    device_id: text,
    subscription_id: text,
    url: text,
    status_code: lastStatusCode,
    body: text.meta({ description: 'The exact text that was sent: parse it to get the payload.' }),
    retry_count: z.int().min(0).meta({
      description:
        'Attempts after the first; excludes probes and the last line of a delivery that ended without another attempt.',
    }),
    created_at: dateTime,
    last_attempt_at: dateTime.meta({
      description:
        'Time of the last line of `attempts`, even if that is an end without an attempt. UTC, with milliseconds.',
    }),
    delivered_at: dateTime.optional().meta({ description: 'Absent unless it was delivered.' }),
    attempts: z.array(attempt).meta({
      description: `Includes probes of a suspended subscription, which have the number of the next attempt. ${LINE_WITHOUT_ATTEMPT}`,
    }),
  })
  .meta({ id: 'V1Event' });

export class HistoryV1PageDto extends dto(z.strictObject({ events: z.array(event), next_page_state: nextPageState })) {}
