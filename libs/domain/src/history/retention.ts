/** So long is a delivery in the history. */
export const RETENTION_MS = 15 * 86_400_000;

export type ClampedWindow =
  | { readonly type: 'window'; readonly startAt: number; readonly endAt: number }
  /** Wholly before the retention: nothing can be found. */
  | { readonly type: 'empty' }
  /** It ends where it starts, or before: the caller's mistake. */
  | { readonly type: 'reversed' };

/** The part of a window [startAt, endAt) that the retention still holds. All epoch milliseconds. */
export function clampWindow(window: { startAt: number; endAt: number }, nowMs: number): ClampedWindow {
  if (window.endAt <= window.startAt) return { type: 'reversed' };
  const startAt = Math.max(window.startAt, nowMs - RETENTION_MS);
  return startAt < window.endAt ? { type: 'window', startAt, endAt: window.endAt } : { type: 'empty' };
}

/** So long `telemetry.pings` keeps them: what ended earlier is seen by none. */
export const PINGS_KEPT_MS = 16 * 86_400_000;
