import { isConnectionLoss } from '@waypost/database';
import type { ApiLogger } from '../dependencies.js';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

export interface UntilDatabaseAnswersDeps {
  readonly logger: Pick<ApiLogger, 'info' | 'warn'>;
  /** Resolves after the time or when the signal is aborted, whichever is first. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Does work again, after ever longer waits, for as long as the database is away; any other error is thrown at once. */
export type UntilDatabaseAnswers = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** The work must be safe to repeat after an unknown outcome. */
export function createUntilDatabaseAnswers({ logger, wait }: UntilDatabaseAnswersDeps): UntilDatabaseAnswers {
  return async (work, signal) => {
    for (let tries = 1, waitMs = FIRST_WAIT_MS; ; tries++, waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        const result = await work();
        if (tries > 1) logger.info('operations_go_on', { tries });
        return result;
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
        if (tries === 1) logger.warn('operations_wait_for_database', { error });
        await wait(waitMs, signal);
        if (signal.aborted) throw error;
      }
    }
  };
}
