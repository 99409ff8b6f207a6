/** An attempt takes 5 s and its record is retried for a minute (then another attempt is made); clocks differ by less than 5 s. */
export const LOGGED_WITHIN_MS = 70_000;

/** every delivery whose first attempt was before this is in the history. `loggedUntil`: all logged before it is projected. */
export function completeUntil(loggedUntil: number | null): number | null {
  return loggedUntil === null ? null : loggedUntil - LOGGED_WITHIN_MS;
}
