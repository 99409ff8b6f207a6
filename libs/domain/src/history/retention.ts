import { DAY_MS } from '../time/units.js';
import { PAGE_TOKEN_LIFETIME_MS } from './page-token.js';

/** how long the history is kept. */
export const RETENTION_DAYS = 15;
export const RETENTION_MS = RETENTION_DAYS * DAY_MS;
/** A walk may continue where it began, which was within the retention then, while a token is valid. */
export const WALKED_MS = RETENTION_MS + PAGE_TOKEN_LIFETIME_MS;
/** logs and replays outlive the history, so that it can be rebuilt. */
export const LOG_RETENTION_MS = RETENTION_MS + DAY_MS;
/** The time that one file of a log covers. The broker deletes whole files, so that records can be read that much longer. */
export const LOG_SEGMENT_MS = DAY_MS;
/** Who can read a ping finds the versions of geofences and settings that it sees; a day is for the broker, to delete. */
export const VERSION_RETENTION_MS = LOG_RETENTION_MS + LOG_SEGMENT_MS + DAY_MS;

export type ClampedWindow =
  | { readonly type: 'window'; readonly startAt: number; readonly endAt: number }
  | { readonly type: 'empty' }
  | { readonly type: 'reversed' };

export function clampStart(startAt: number, nowMs: number): number {
  return Math.max(startAt, nowMs - RETENTION_MS);
}

/** the part of [startAt, endAt) that the retention still holds. */
export function clampWindow(window: { startAt: number; endAt: number }, nowMs: number): ClampedWindow {
  if (window.endAt <= window.startAt) return { type: 'reversed' };
  const startAt = clampStart(window.startAt, nowMs);
  return startAt < window.endAt ? { type: 'window', startAt, endAt: window.endAt } : { type: 'empty' };
}
