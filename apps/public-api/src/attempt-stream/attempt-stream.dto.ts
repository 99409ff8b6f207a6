import { z } from 'zod';
import { DELIVERY_STATUSES, MAX_ID_LENGTH } from '@waypost/domain';
import {
  attemptError,
  attemptNumber,
  attemptStatusCode,
  deliveryEventType,
  durationMs,
  eventTypeParameter,
} from '../delivery-history/delivery-history.dto.js';
import { dto } from '../endpoint/dto.js';
import {
  dateTime,
  NO_CONTROL_CHARACTERS,
  oneOf,
  parameterText,
  text,
  uuid,
  uuidText,
  wholeNumber,
} from '../endpoint/fields.js';

/** The filters of R-41: those of v2 that one attempt can be judged by. */
export class AttemptStreamQueryDto extends dto(
  z.object({
    eventType: z.array(eventTypeParameter).optional().meta({
      description: 'Only attempts of events of these types; repeat the parameter for several types.',
    }),
    deviceId: parameterText(MAX_ID_LENGTH)
      .optional()
      .meta({ pattern: NO_CONTROL_CHARACTERS, description: 'Only attempts of events of this device.' }),
    subscriptionId: uuid().optional().meta({ description: 'Only attempts for this subscription.' }),
    eventId: uuid().optional().meta({ description: 'Only attempts of this event.' }),
    statusCode: wholeNumber(100, 999).optional().meta({ description: 'Only attempts with this status code.' }),
    status: oneOf(DELIVERY_STATUSES)
      .optional()
      .meta({ description: 'Only attempts after which the delivery had this status.' }),
  }),
) {}

/** The `data` of one server-sent event. */
export class StreamedAttemptDto extends dto(
  z
    .strictObject({
      eventId: uuidText,
      eventType: deliveryEventType,
      eventTime: dateTime,
      deviceId: text,
      subscriptionId: text,
      series: z.int().min(0).meta({ description: '0: the first delivery of the event; higher: replays of it.' }),
      attempt: attemptNumber,
      probe: z.literal(true).optional(),
      startedAt: dateTime,
      durationMs,
      statusCode: attemptStatusCode,
      error: attemptError,
      status: z.enum(DELIVERY_STATUSES).meta({ description: 'Status of the delivery after this attempt.' }),
      nextAttemptAt: dateTime.optional().meta({ description: 'Only while the delivery is pending.' }),
    })
    .meta({ id: 'StreamedAttempt' }),
) {}
