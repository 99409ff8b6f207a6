import { asInteger, withDefault } from '@waypost/platform';
import { z } from 'zod';

/** WAYPOST_PROJECTION_TRANSACTIONS: how many transactions with deliveries the database works at together. */
export const projectionConfig: z.ZodType<{ readonly transactionsAtOnce: number }> = z
  .object({
    WAYPOST_PROJECTION_TRANSACTIONS: withDefault(asInteger(1, 8), 'a whole number from 1 to 8', 1),
  })
  .transform((env) => ({ transactionsAtOnce: env.WAYPOST_PROJECTION_TRANSACTIONS }));
