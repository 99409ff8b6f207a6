import { isConnectionLoss } from '@waypost/database';
import type { LifecyclePart, Logger } from '@waypost/platform';

const EVERY_MS = 10_000;
/** A batch is some megabytes at most: even a bad network has sent it by then. */
const STALLED_MS = 30_000;

export interface StalledSessionsJobDeps {
  /** Ends sessions of projectors that have waited so long for data; resolves to their number. */
  readonly endStalled: (stalledForMs: number) => Promise<number>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Calls again and again until cancelled through the function it returns. */
  readonly every: (ms: number, call: () => void) => () => void;
}

/** Each projector looks after all: the one that is stopped cannot help itself, and its successor waits for its locks. */
export function createStalledSessionsJob({ endStalled, logger, every }: StalledSessionsJobDeps): LifecyclePart {
  let running: Promise<void> | null = null;
  let cancel: () => void = () => undefined;

  async function look(): Promise<void> {
    try {
      const ended = await endStalled(STALLED_MS);
      if (ended > 0) logger.warn('stalled_sessions_ended', { ended });
    } catch (error) {
      // Of a database that is away the projection tells.
      if (!isConnectionLoss(error)) logger.warn('stalled_sessions_unknown', { error });
    } finally {
      running = null;
    }
  }

  return {
    name: 'stalled-sessions',
    start: () => {
      cancel = every(EVERY_MS, () => {
        running ??= look();
      });
    },
    stop: async () => {
      cancel();
      await running;
    },
  };
}
