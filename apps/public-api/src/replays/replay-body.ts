import {
  DEFAULT_REPLAY_RATE_PER_SECOND,
  EVENT_TYPES,
  MAX_ID_LENGTH,
  MAX_REPLAY_RATE_PER_SECOND,
  parseInstant,
} from '@waypost/domain';
import { z } from 'zod';

const STATUSES = ['delivered', 'failed', 'pending'] as const;
const INSTANT = 'must be an RFC 3339 date-time with a time zone, for example 2026-03-01T00:00:00Z';

const instant = z.string().refine((text) => parseInstant(text).type === 'instant', INSTANT);

/** What to send again. */
export const replayBody = z
  .strictObject({
    startDate: instant.meta({
      format: 'date-time',
      description:
        'Start of the window of first attempts, inclusive: RFC 3339 with a time zone. Clamped to the retention of 15 days.',
    }),
    endDate: instant.meta({
      format: 'date-time',
      description: 'End of the window, exclusive: RFC 3339 with a time zone. Must be after startDate.',
    }),
    status: z
      .enum(STATUSES, `must be one of ${STATUSES.join(', ')}`)
      .optional()
      .meta({ description: 'Only deliveries that stand so when the replay begins.' }),
    eventType: z
      .enum(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`)
      .optional()
      .meta({ description: 'Only events of this type.' }),
    deviceId: z
      .string()
      .min(1, 'must not be empty')
      .max(MAX_ID_LENGTH, `must be at most ${String(MAX_ID_LENGTH)} characters`)
      // eslint-disable-next-line no-control-regex -- refusing them is the point
      .regex(/^[^\u0000-\u001f\u007f]*$/, 'must hold no control characters')
      .optional()
      .meta({ description: 'Only events of this device.' }),
    ratePerSecond: z
      .int('must be an integer')
      .min(1, 'must be at least 1')
      .max(MAX_REPLAY_RATE_PER_SECOND, `must be at most ${String(MAX_REPLAY_RATE_PER_SECOND)}`)
      .optional()
      .meta({
        default: DEFAULT_REPLAY_RATE_PER_SECOND,
        description: 'Deliveries made a second, at most. The limits of the subscription apply as well.',
      }),
  })
  // Of texts that are no instants nothing more is said.
  .refine((body) => !(instantOf(body.endDate) <= instantOf(body.startDate)), {
    path: ['endDate'],
    message: 'must be after startDate',
  });

export type ReplayBody = z.infer<typeof replayBody>;

/** Epoch milliseconds of a text that has been checked. */
export function instantOf(text: string): number {
  const parsed = parseInstant(text);
  return parsed.type === 'instant' ? parsed.at : Number.NaN;
}
