import { z } from 'zod';
import { DELIVERY_STATUSES, MAX_ID_LENGTH, MAX_PAGE_ITEMS, PAYLOAD_FORMATS } from '@waypost/domain';
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
import { MOST_SEARCHED } from '../delivery-history/payload-search.js';
import { dto } from '../endpoint/dto.js';
import {
  dateTime,
  isWindow,
  NO_CONTROL_CHARACTERS,
  oneOf,
  parameterText,
  text,
  uuid,
  uuidText,
  WINDOW_RULE,
} from '../endpoint/fields.js';
import { countText } from '../endpoint/prose.js';
import { limitParameter, pageOf, pageStateParameter } from '../paging/paging.dto.js';

/** More than there are; each is a list that the page is merged of. */
const MAX_EVENT_TYPES = 20;

const includeParameter = oneOf(['body']).optional().meta({ description: 'Adds the exact text that was sent.' });

const MAX_PAYLOAD_FILTER_LENGTH = 512;

const payloadParameter = parameterText(MAX_PAYLOAD_FILTER_LENGTH)
  .refine((text) => text.indexOf(':') > 0, 'must be a path, a colon and a value, such as driverId:driver-46')
  .optional()
  .meta({
    pattern: '^[^:\\u0000-\\u001f\\u007f-\\u009f]+:[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    description: `Only deliveries whose payload has this value, such as \`driverId:driver-46\`, \`geofenceName:Depot\` or \`startLocation.latitude:52.52\`. The names in the path are joined by dots, and the path may start anywhere in the payload; every item of a list is searched. This filter has no index: each page searches up to ${countText(MOST_SEARCHED)} deliveries that match the other filters.`,
  });

/** The filters of v2. */
export class EventsQueryDto extends dto(
  z
    .object({
      startDate: startDateParameter.optional(),
      endDate: endDateParameter.optional(),
      eventType: z
        .array(eventTypeFilter)
        .max(MAX_EVENT_TYPES, `must be given at most ${String(MAX_EVENT_TYPES)} times`)
        // In one order and once each: the same filter however it is written.
        .transform((types) => [...new Set(types)].sort())
        .optional()
        .meta({ description: 'Only events of these types; repeat the parameter for several types.' }),
      deviceId: parameterText(MAX_ID_LENGTH)
        .optional()
        // Such an id does not exist.
        .meta({ pattern: NO_CONTROL_CHARACTERS, description: 'Only events of this device.' }),
      subscriptionId: uuid().optional().meta({ description: 'Only deliveries to this subscription.' }),
      eventId: uuid().optional().meta({ description: 'Only this event.' }),
      statusCode: statusCodeParameter,
      status: oneOf(DELIVERY_STATUSES).optional().meta({ description: 'Only deliveries with this status.' }),
      payload: payloadParameter,
      order: oneOf(['asc', 'desc'])
        .optional()
        .meta({ description: '`asc`, the default: newest last. `desc`: newest first.' }),
      include: includeParameter,
      limit: limitParameter(MAX_PAGE_ITEMS, LIMIT_DESCRIPTION),
      pageState: pageStateParameter,
    })
    .refine(isWindow, WINDOW_RULE),
) {}

const attempt = z.strictObject({
  attempt: attemptNumber,
  probe: z.literal(true).optional().meta({
    description: 'A probe of a suspended subscription: it does not use up the attempt of this number.',
  }),
  dueAt: dateTime.meta({ description: 'When it should have started. `startedAt` minus this is its lateness.' }),
  startedAt: dateTime,
  durationMs,
  statusCode: attemptStatusCode,
  error: attemptError,
  errorDetail: z.string().optional().meta({ description: 'A description of `error`.' }),
  responseBody: z.string().optional().meta({
    description:
      'The beginning of the body of a non-2xx response: at most 1 KiB of the part that arrived together with its headers.',
  }),
});

/** @param line which of `attempts` */
function timeOfLine(line: 'first' | 'last') {
  return dateTime.optional().meta({
    description: `Time of the ${line} line of \`attempts\`, even if that is an end without an attempt; absent while there is none. UTC, with milliseconds.`,
  });
}

const delivery = z.strictObject({
  status: z.enum(DELIVERY_STATUSES),
  series: z
    .int()
    .min(0)
    .meta({ description: '0: the first delivery of the event to this subscription; higher: replays of it.' }),
  replayId: text.optional().meta({
    description: 'The replay that created this series; absent for the first delivery.',
  }),
  statusCode: lastStatusCode,
  attemptCount: z
    .int()
    .min(0)
    .meta({ description: 'Excludes probes and the last line of a delivery that ended without another attempt.' }),
  probeCount: z.int().min(1).optional().meta({
    description:
      'Probes of this delivery while its subscription was suspended. `attempts` contains the first 20 and the newest 20.',
  }),
  firstAttemptAt: timeOfLine('first'),
  lastAttemptAt: timeOfLine('last'),
  nextAttemptAt: dateTime
    .optional()
    .meta({ description: 'When the next attempt is due; absent when none is planned.' }),
  attempts: z.array(attempt).meta({ description: LINE_WITHOUT_ATTEMPT }),
});

const event = z
  .strictObject({
    eventId: uuidText.meta({ description: 'The same in every attempt and in the payload.' }),
    eventType: deliveryEventType,
    eventTime: dateTime,
    deviceId: text,
    subscriptionId: text,
    format: z.enum(PAYLOAD_FORMATS),
    payload: z.looseObject({}).meta({ description: 'The JSON as it was sent, in the format above.' }),
    body: text.optional().meta({ description: 'Only with `include=body`: the exact text that was sent.' }),
    delivery,
  })
  .meta({ id: 'V2Event' });

export class EventPathDto extends dto(z.object({ eventId: uuid().meta({ description: 'The id of the event.' }) })) {}

export class EventQueryDto extends dto(
  z.object({
    include: includeParameter,
    limit: limitParameter(MAX_PAGE_ITEMS, LIMIT_DESCRIPTION),
    pageState: pageStateParameter,
  }),
) {}

export class EventsPageDto extends dto(
  pageOf(event).extend({
    searchedUntil: dateTime.nullable().optional().meta({
      description:
        'Only with `payload`: time of the first attempt of the last delivery that was searched; the next page continues from there. null: every delivery of the query was searched.',
    }),
    completeUntil: dateTime.nullable().meta({
      description:
        'When the first page was read, the history contained every delivery whose first attempt was before this time. A later page can have an earlier time, or null, when the history had to be read again meanwhile. To poll, use the value of the last page as the next `startDate` and drop deliveries you have already seen, by `eventId` and `series`. null: unknown, for example while the history is being rebuilt; repeat the walk.',
    }),
  }),
) {}
