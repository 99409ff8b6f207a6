import { z } from 'zod';
import {
  DISABLE_AFTER_DAYS,
  DISABLE_AFTER_FAILED_DAYS,
  DISABLE_AFTER_FAILURES,
  formatTime,
  type OperationalEvent,
  SUSPEND_AFTER_MS,
} from '@waypost/domain';
import { dto } from '../endpoint/dto.js';
import { dateTime, statusCode, text, uuidText } from '../endpoint/fields.js';
import { durationText } from '../endpoint/prose.js';
import { pageOf } from '../paging/paging.dto.js';

const TYPES = `What happened:
- \`exhausted\`: the last attempt of a delivery failed; \`eventId\` names it. A response that ends a delivery at once, such as a 400, causes no event.
- \`suspended\`: only failures for ${durationText(SUSPEND_AFTER_MS)}; deliveries are held from now on (\`onOutage: hold\`).
- \`probed\`: a held delivery was tried and failed.
- \`resumed\`: a probe was accepted; held deliveries are being sent in order.
- \`disabled\`: only failures for ${String(DISABLE_AFTER_DAYS)} days, with at least ${String(DISABLE_AFTER_FAILURES)} failed deliveries on at least ${String(DISABLE_AFTER_FAILED_DAYS)} of these days. No new deliveries are created until \`status\` is set to \`active\`.`;

export class OperationalEventDto extends dto(
  z
    .strictObject({
      id: uuidText,
      type: text.meta({ description: TYPES, examples: ['exhausted', 'suspended', 'probed', 'resumed', 'disabled'] }),
      occurredAt: dateTime,
      reason: text.meta({ description: 'An explanation for humans.' }),
      eventId: uuidText.optional().meta({ description: 'The delivery concerned, as in the history.' }),
      statusCode: statusCode.optional().meta({ description: 'Status code of the last attempt or of the probe.' }),
      error: text.optional().meta({ description: 'Why there was no status code, for example timeout.' }),
    })
    .meta({ id: 'Operation' }),
) {}

export class OperationalEventPageDto extends dto(pageOf(OperationalEventDto.schema)) {}

export function toOperationalEvent(event: OperationalEvent): OperationalEventDto {
  const { id, type, occurredAt, reason, eventId, statusCode: code, errorCode } = event;
  return {
    id,
    type,
    occurredAt: formatTime(occurredAt),
    reason,
    ...(eventId === null ? {} : { eventId }),
    ...(code === null ? {} : { statusCode: code }),
    ...(errorCode === null ? {} : { error: errorCode }),
  };
}
