import { isConnectionLoss, isLockTimeout } from './database-errors.js';

type Log = (event: string, fields: Record<string, unknown>) => void;

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

export interface DatabaseRetryDeps {
  readonly logger: { readonly info: Log; readonly warn: Log };
  readonly monotonicMs: () => number;
  /** Resolves after the time or when the signal is aborted, whichever is first. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onChange?: (available: boolean) => void;
}

/** Lets work wait for the database. Shared by all work of the process, so that an outage is logged once. */
export class DatabaseRetry {
  private awaySince: number | null = null;

  constructor(private readonly deps: DatabaseRetryDeps) {}

  available(): boolean {
    return this.awaySince === null;
  }

  /**
   * Does the work again, after ever longer waits, while the database is down, or while a projector that was stopped
   * keeps rows that the work needs. Any other error is thrown at once; so is the last one when the signal ends the
   * waiting. The work must be safe to repeat after an unknown outcome.
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        const result = await work();
        this.noteBack();
        return result;
      } catch (error) {
        if (isLockTimeout(error)) this.deps.logger.warn('database_rows_locked', { error });
        else if (isConnectionLoss(error)) this.noteAway(error);
        else throw error;
        await this.deps.wait(waitMs, signal);
        if (signal.aborted) throw error;
      }
    }
  }

  private noteAway(error: unknown): void {
    if (this.awaySince !== null) return;
    this.awaySince = this.deps.monotonicMs();
    this.deps.logger.warn('database_away', { error });
    this.deps.onChange?.(false);
  }

  private noteBack(): void {
    if (this.awaySince === null) return;
    this.deps.logger.info('database_back', { awayMs: this.deps.monotonicMs() - this.awaySince });
    this.awaySince = null;
    this.deps.onChange?.(true);
  }
}
