/**
 * An attempt is logged at most this long after its start: it takes 5 s, its record is written again for a minute (then the
 * attempt itself is made again, with another start), and clocks differ by less than 5 s.
 */
export const LOGGED_WITHIN_MS = 70_000;

/**
 * every delivery whose first attempt was before this is in the history.
 *
 * @param loggedUntil every record that was logged before it is projected; null: not known
 */
export function completeUntil(loggedUntil: number | null): number | null {
  return loggedUntil === null ? null : loggedUntil - LOGGED_WITHIN_MS;
}
