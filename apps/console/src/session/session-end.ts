/**
 * For how long a session goes on after an answer, by the clock of the service that ends it: the one of the reader may be minutes
 * off. null: not known, so that only the refusal of a request ends it.
 *
 * @param date the header of the answer, to the second
 */
export function msUntilEnd(expiresAt: string | undefined, date: string | null): number | null {
  const leftMs = Date.parse(expiresAt ?? '') - Date.parse(date ?? '');
  return Number.isNaN(leftMs) ? null : Math.max(0, leftMs);
}
