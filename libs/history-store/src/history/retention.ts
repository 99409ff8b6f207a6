import { RETENTION_MS } from '@waypost/domain';

export const DAY_MS = 86_400_000;

/** The UTC midnight at or before `atMs`. */
export const startOfUtcDay = (atMs: number): number => Math.floor(atMs / DAY_MS) * DAY_MS;

/**
 * A day goes as a whole, once its last millisecond is older than the retention. The same rule says which attempts
 * are not written any more, so that a rebuild from the log never makes a partition that is to be dropped at once.
 */
export const isDayExpired = (atMs: number, nowMs: number): boolean =>
  startOfUtcDay(atMs) + DAY_MS <= nowMs - RETENTION_MS;
