import { z } from 'zod';
import { count, figures, figureWindow } from '../delivery-figures/delivery-figures.dto.js';
import { dto } from '../endpoint/dto.js';
import { isWindow, text, wholeNumber, WINDOW_RULE } from '../endpoint/fields.js';

/** The most fleets of an answer. */
const MAX_LIMIT = 1_000;
const DEFAULT_LIMIT = 100;

/** Figures of all fleets together, for operators. */
export class AllFiguresQueryDto extends dto(figureWindow.refine(isWindow, WINDOW_RULE)) {}

export class FleetTotalsQueryDto extends dto(
  figureWindow
    .extend({
      step: figureWindow.shape.step.meta({
        description: 'Both ends of the window widen to whole ones of these, in UTC, of which it has at most 1,440.',
      }),
      limit: wholeNumber(1, MAX_LIMIT).default(DEFAULT_LIMIT).meta({ description: 'Maximum fleets.' }),
    })
    .refine(isWindow, WINDOW_RULE),
) {}

const fleetTotals = z.strictObject({ fleetId: text, ...figures.shape }).meta({ id: 'FleetTotals' });

export class FleetTotalsDto extends dto(
  z.strictObject({
    data: z.array(fleetTotals).meta({
      description:
        'Those with the most failed and expired deliveries first, then those with the most retries, then those with the most deliveries.',
    }),
    fleets: count.meta({ description: 'How many have deliveries in the window, those beyond the limit too.' }),
  }),
) {}
