import { z } from 'zod';
import { ATTEMPT_CLASSES, MAX_FIGURE_ROWS } from '@waypost/history-store';
import { eventTypeParameter, startDateParameter } from '../delivery-history/delivery-history.dto.js';
import { dto } from '../endpoint/dto.js';
import { dateTime, instant, isWindow, oneOf, text, uuid, uuidText, WINDOW_RULE } from '../endpoint/fields.js';
import { countText } from '../endpoint/prose.js';
import { MAX_BUCKETS } from './figure-window.js';

/** The window of figures; without the rule that it must not end before it begins. */
export const figureWindow = z.object({
  startDate: startDateParameter,
  endDate: instant().meta({
    description: 'End of the window, exclusive: RFC 3339 with a time zone. The window is widened to whole buckets.',
  }),
  step: oneOf(['minute', 'hour', 'day'])
    .default('hour')
    .meta({
      description: `Bucket length; buckets are aligned to UTC. A window can have at most ${countText(MAX_BUCKETS)} buckets, and a response ${countText(MAX_FIGURE_ROWS)} if they are split by \`groupBy\`.`,
    }),
});

/** The window and the grouping of figures. */
export class FiguresQueryDto extends dto(
  figureWindow
    .extend({
      subscriptionId: uuid().optional().meta({ description: 'Only deliveries to this subscription.' }),
      eventType: z
        .array(eventTypeParameter)
        .optional()
        .meta({ description: 'Only events of these types; repeat the parameter for several types.' }),
      groupBy: oneOf(['none', 'subscription', 'eventType']).default('none').meta({
        description: 'Splits each bucket by this property.',
      }),
      total: z.boolean('must be true or false').default(false).meta({
        description: 'true: one bucket for the whole window, or one per group.',
      }),
    })
    .refine(isWindow, WINDOW_RULE),
) {}

export const count = z.int().min(0);

const percentile = z
  .strictObject({ p50: count, p95: count, p99: count })
  .optional()
  .meta({ description: 'Milliseconds, within 5 % of the exact value; absent if there is nothing to measure.' });

/** What is counted, in a bucket or over a window. */
export const figures = z.strictObject({
  deliveries: z.strictObject({ delivered: count, failed: count, expired: count, pending: count }).meta({
    description:
      'Deliveries by outcome. `expired` deliveries waited for 15 days, because their subscription was suspended, paused or behind a backlog; the history shows them as `failed`.',
  }),
  attempts: z
    .strictObject(Object.fromEntries(ATTEMPT_CLASSES.map((name) => [name, count])))
    .meta({ description: 'Attempts by class of status code, excluding probes.' }),
  retries: count.meta({ description: 'Retries: attempts after the first.' }),
  probes: count.meta({ description: 'Probes of suspended subscriptions.' }),
  latencyMs: percentile.describe('Time from the creation of a delivery to its acceptance: milliseconds, within 5 %.'),
  retryLatenessMs: percentile.describe('Time from when a retry is due to when it starts: milliseconds, within 5 %.'),
});

const startDate = dateTime.meta({
  description: 'Start of the bucket or, with `total`, of the widened window: UTC, with milliseconds.',
});

const bucket = z
  .strictObject({
    startDate,
    subscriptionId: uuidText.optional().meta({ description: 'Only with `groupBy=subscription`.' }),
    eventType: text.optional().meta({ description: 'Only with `groupBy=eventType`.' }),
    ...figures.shape,
  })
  .meta({ id: 'FigureBucket' });

export class FiguresDto extends dto(
  z.strictObject({
    data: z.array(bucket).meta({ description: 'In chronological order. Buckets without deliveries are omitted.' }),
  }),
) {}

export type ShownBucket = z.infer<typeof bucket>;
export type ShownFigures = z.infer<typeof figures>;
