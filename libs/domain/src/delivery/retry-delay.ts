import { DomainError } from '../domain-error.js';

/** includes the first attempt. */
export const MAX_ATTEMPTS = 5;

/** limits the jitter and the receiver's `Retry-After`. */
export const MAX_RETRY_DELAY_MS = 15_000;

const BASE_DELAYS_MS = [2_000, 4_000, 8_000, 15_000] as const;

/** the wait after failed attempt 1 to MAX_ATTEMPTS - 1. `random` is uniform in [0, 1). */
export function retryDelayMs(attempt: number, random: number): number {
  const baseMs = BASE_DELAYS_MS[attempt - 1];
  if (baseMs === undefined) {
    throw new DomainError(
      'attempt_out_of_range',
      `No retry follows attempt ${String(attempt)}: ask decideAttempt first.`,
    );
  }
  return Math.min(Math.round(baseMs * (0.8 + 0.4 * random)), MAX_RETRY_DELAY_MS);
}
