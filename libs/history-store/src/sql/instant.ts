/** Years 1970 to 9999: what both ISO 8601 and PostgreSQL write with four digits. */
const LAST_INSTANT_MS = Date.UTC(10_000, 0) - 1;

/** A time as a parameter, clamped to the times that a timestamptz can hold. */
export function instant(epochMs: number): string {
  return new Date(Math.min(Math.max(Math.ceil(epochMs), 0), LAST_INSTANT_MS)).toISOString();
}
