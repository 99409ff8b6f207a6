import { asInteger, withDefault } from '@waypost/platform';
import { z } from 'zod';

/** How far replays may be ahead of what is sent. */
export const replayConfig = z
  .object({
    WAYPOST_REPLAY_MAX_UNSENT: withDefault(
      asInteger(1, 1_000_000),
      'deliveries of one replay that are written and not yet sent, from 1',
      1_000,
    ),
  })
  .transform((env) => ({ maxUnsent: env.WAYPOST_REPLAY_MAX_UNSENT }));

export interface ReplayConfig {
  readonly maxUnsent: number;
}
