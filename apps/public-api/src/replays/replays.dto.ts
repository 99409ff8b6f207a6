import { z } from 'zod';
import {
  DEFAULT_REPLAY_RATE_PER_SECOND,
  DELIVERY_STATUSES,
  EVENT_TYPES,
  formatTime,
  MAX_ID_LENGTH,
  MAX_REPLAY_RATE_PER_SECOND,
  RETENTION_DAYS,
} from '@waypost/domain';
import type { StoredReplay } from '@waypost/management-store';
import { endDateParameter, startDateParameter, statusCodeParameter } from '../delivery-history/delivery-history.dto.js';
import { dto } from '../endpoint/dto.js';
import {
  dateTime,
  enumText,
  instant,
  isWindow,
  NO_CONTROL_CHARACTERS,
  oneOf,
  parameterText,
  plainText,
  statusCode,
  text,
  uuid,
  uuidText,
  WINDOW_RULE,
} from '../endpoint/fields.js';
import { pageOf } from '../paging/paging.dto.js';
import { SubscriptionPathDto } from '../subscriptions/subscriptions.dto.js';

/** From requested to over: `cancelling` until the replayer has noticed. */
const STATES = ['pending', 'running', 'cancelling', 'completed', 'cancelled'] as const;

/** What to send again. */
export class CreateReplayDto extends dto(
  z
    .strictObject({
      startDate: instant().meta({
        description: `Start of the window of first attempts, inclusive: RFC 3339 with a time zone. Clamped to the retention of ${String(RETENTION_DAYS)} days.`,
      }),
      endDate: instant().meta({
        description: 'End of the window, exclusive: RFC 3339 with a time zone. Must be after startDate.',
      }),
      status: oneOf(DELIVERY_STATUSES)
        .optional()
        .meta({ description: 'Only deliveries with this status when the replay begins.' }),
      statusCode: z
        .int('must be an integer')
        .min(100, 'must be at least 100')
        .max(999, 'must be at most 999')
        .optional()
        .meta({ description: 'Only deliveries whose last attempt got this status code when the replay begins.' }),
      eventType: oneOf(EVENT_TYPES).optional().meta({ description: 'Only events of this type.' }),
      deviceId: plainText(MAX_ID_LENGTH).optional().meta({ description: 'Only events of this device.' }),
      ratePerSecond: z
        .int('must be an integer')
        .min(1, 'must be at least 1')
        .max(MAX_REPLAY_RATE_PER_SECOND, `must be at most ${String(MAX_REPLAY_RATE_PER_SECOND)}`)
        .default(DEFAULT_REPLAY_RATE_PER_SECOND)
        .meta({
          description: 'Maximum deliveries created per second. The limits of the subscription also apply.',
        }),
    })
    .refine(isWindow, WINDOW_RULE)
    .meta({ id: 'CreateReplay' }),
) {}

/** Above this, a count says only that there are more. */
export const MOST_COUNTED = 10_000;
/** Of the history, so that a count holds a connection for a moment only: 0.1 s, and 1 s where rows are looked up by event. */
export const MOST_READ = 50_000;
export const MOST_LOOKED_UP = 10_000;

/** What a replay would send, without sending it. */
export class ResendableQueryDto extends dto(
  z
    .object({
      startDate: startDateParameter,
      endDate: endDateParameter,
      status: oneOf(DELIVERY_STATUSES).optional().meta({ description: 'As for a replay.' }),
      statusCode: statusCodeParameter,
      eventType: oneOf(EVENT_TYPES).optional().meta({ description: 'Only events of this type.' }),
      deviceId: parameterText(MAX_ID_LENGTH)
        .optional()
        .meta({ pattern: NO_CONTROL_CHARACTERS, description: 'Only events of this device.' }),
    })
    .refine(isWindow, WINDOW_RULE),
) {}

export class ResendableDto extends dto(
  z
    .strictObject({
      deliveries: z.int().min(0).max(MOST_COUNTED),
      hasMore: z.boolean().meta({ description: 'true: not everything was counted, so there may be more.' }),
    })
    .meta({ id: 'Resendable' }),
) {}

export class ReplayPathDto extends dto(
  z.object({
    ...SubscriptionPathDto.schema.shape,
    replayId: uuid('There is no such replay.').meta({ description: 'The id of the replay.' }),
  }),
) {}

const STATE_DESCRIPTION = `- \`pending\`: the replay has not started.
- \`running\`: deliveries are selected, then created. It waits while the subscription is not active.
- \`cancelling\`: a cancel was requested.
- \`completed\`: all matching deliveries were created, and are sent like any other delivery.
- \`cancelled\`: no more deliveries are created, because it was cancelled or the subscription was deleted.`;

export class ReplayDto extends dto(
  z
    .strictObject({
      replayId: uuidText,
      subscriptionId: uuidText,
      series: z.int().min(1).meta({ description: 'The n-th replay of the subscription.' }),
      state: z.enum(STATES).meta({ description: STATE_DESCRIPTION }),
      startDate: dateTime.meta({ description: `After clamping to the retention of ${String(RETENTION_DAYS)} days.` }),
      endDate: dateTime,
      status: enumText(DELIVERY_STATUSES).optional(),
      statusCode: statusCode.optional(),
      eventType: enumText(EVENT_TYPES).optional(),
      deviceId: text.optional(),
      eventId: uuidText.optional().meta({ description: 'Only with `/resend`: the event that is resent.' }),
      ratePerSecond: z.int().min(1),
      progress: z.strictObject({
        matched: z.int().min(0).optional().meta({
          description: 'Deliveries to resend; absent until they are counted.',
        }),
        sent: z.int().min(0).meta({ description: 'How many of them have been passed to the sender.' }),
      }),
      createdAt: dateTime,
      startedAt: dateTime.optional().meta({ description: 'Absent while pending.' }),
      endedAt: dateTime.optional().meta({ description: 'Absent until it is completed or cancelled.' }),
    })
    .meta({ id: 'Replay' }),
) {}

export class ReplayPageDto extends dto(pageOf(ReplayDto.schema)) {}

export function toReplay(stored: StoredReplay): ReplayDto {
  const { replay, progress } = stored;
  const matched = progress?.matched ?? null;
  const state = stateOf(stored);
  const isOver = state === 'completed' || state === 'cancelled';
  return {
    replayId: replay.replayId,
    subscriptionId: replay.subscriptionId,
    series: replay.series,
    state,
    startDate: formatTime(replay.startDate),
    endDate: formatTime(replay.endDate),
    ...(replay.status === null ? {} : { status: replay.status }),
    ...(replay.statusCode === null ? {} : { statusCode: replay.statusCode }),
    ...(replay.eventType === null ? {} : { eventType: replay.eventType }),
    ...(replay.deviceId === null ? {} : { deviceId: replay.deviceId }),
    ...(replay.eventId === null ? {} : { eventId: replay.eventId }),
    ratePerSecond: replay.ratePerSecond,
    progress: { ...(matched === null ? {} : { matched }), sent: progress?.sent ?? 0 },
    createdAt: formatTime(replay.createdAt),
    ...(progress === null ? {} : { startedAt: formatTime(progress.startedAt) }),
    ...(progress !== null && isOver ? { endedAt: formatTime(progress.updatedAt) } : {}),
  };
}

function stateOf({ replay, progress }: StoredReplay): ReplayDto['state'] {
  if (progress?.state === 'completed' || progress?.state === 'cancelled') return progress.state;
  if (replay.cancelled) return 'cancelling';
  return progress === null ? 'pending' : 'running';
}
