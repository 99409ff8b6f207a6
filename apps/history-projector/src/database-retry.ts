import { isConnectionLoss, isLockTimeout } from '@waypost/database';
import type { Logger } from '@waypost/platform';

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** Lets work wait for the database. Shared by all work of the process, so that an outage is told once. */
export interface DatabaseRetry {
  /**
   * Does the work again, after ever longer waits, for as long as the database is away, or a projector that was stopped
   * keeps rows that the work needs. Any other error is thrown at once;
   * so is the last one when the signal ends the waiting. The work must be safe to repeat after an unknown outcome.
   */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  available(): boolean;
}

export interface DatabaseRetryDeps {
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly now: () => number;
  /** Resolves after the time or when the signal is aborted, whichever is first. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onChange?: (available: boolean) => void;
}

export function createDatabaseRetry({ logger, now, wait, onChange }: DatabaseRetryDeps): DatabaseRetry {
  let awaySince: number | null = null;

  function noteAway(error: unknown): void {
    if (awaySince !== null) return;
    awaySince = now();
    logger.warn('database_away', { error });
    onChange?.(false);
  }

  function noteBack(): void {
    if (awaySince === null) return;
    logger.info('database_back', { awayMs: now() - awaySince });
    awaySince = null;
    onChange?.(true);
  }

  return {
    available: () => awaySince === null,
    async run(work, signal) {
      for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
        try {
          const result = await work();
          noteBack();
          return result;
        } catch (error) {
          if (isLockTimeout(error)) logger.warn('database_rows_locked', { error });
          else if (isConnectionLoss(error)) noteAway(error);
          else throw error;
          await wait(waitMs, signal);
          if (signal.aborted) throw error;
        }
      }
    },
  };
}
