import { isConnectionLoss } from '@waypost/database';
import type { Logger } from '@waypost/platform';
import { waitOrAbort } from '@waypost/streams';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

export interface UntilDatabaseAnswersDeps {
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** What waits: in the log. */
  readonly consumer: string;
  readonly wait?: typeof waitOrAbort;
}

/** Repeats work, after increasing waits, while the database is unavailable; any other error is thrown at once. */
export type UntilDatabaseAnswers = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** The work must be safe to repeat after an unknown outcome. */
export function createUntilDatabaseAnswers(deps: UntilDatabaseAnswersDeps): UntilDatabaseAnswers {
  const { logger, consumer, wait = waitOrAbort } = deps;
  return async (work, signal) => {
    for (let tries = 1, waitMs = FIRST_WAIT_MS; ; tries++, waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        const result = await work();
        if (tries > 1) logger.info('consumer_continues', { consumer, tries });
        return result;
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
        if (tries === 1) logger.warn('consumer_waits_for_database', { consumer, error });
        await wait(waitMs, signal);
        if (signal.aborted) throw error;
      }
    }
  };
}
