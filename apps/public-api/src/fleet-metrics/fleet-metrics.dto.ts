import { z } from 'zod';
import { count, figures, figureWindow } from '../delivery-metrics/delivery-metrics.dto.js';
import { MAX_BUCKETS } from '../delivery-metrics/figure-window.js';
import { dto } from '../endpoint/dto.js';
import { isWindow, text, wholeNumber, WINDOW_RULE } from '../endpoint/fields.js';
import { countText } from '../endpoint/prose.js';

/** The most fleets of an answer. */
const MAX_LIMIT = 1_000;
const DEFAULT_LIMIT = 100;

/** Figures of all fleets together, for operators. */
export class AllFiguresQueryDto extends dto(figureWindow.refine(isWindow, WINDOW_RULE)) {}

export class FleetTotalsQueryDto extends dto(
  figureWindow
    .extend({
      step: figureWindow.shape.step.meta({
        description: `Bucket length. The window is widened to whole buckets (UTC), at most ${countText(MAX_BUCKETS)}.`,
      }),
      limit: wholeNumber(1, MAX_LIMIT).default(DEFAULT_LIMIT).meta({ description: 'Maximum number of fleets.' }),
    })
    .refine(isWindow, WINDOW_RULE),
) {}

const fleetTotals = z.strictObject({ fleetId: text, ...figures.shape }).meta({ id: 'FleetTotals' });

export class FleetTotalsDto extends dto(
  z.strictObject({
    data: z.array(fleetTotals).meta({
      description: 'Sorted by failed and expired deliveries, then by retries, then by deliveries, most first.',
    }),
    fleets: count.meta({
      description: 'Number of fleets with deliveries in the window, including those beyond the limit.',
    }),
  }),
) {}
