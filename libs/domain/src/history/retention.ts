/** */
export const RETENTION_MS = 15 * 86_400_000;

export type ClampedWindow =
  | { readonly type: 'window'; readonly startAt: number; readonly endAt: number }
  | { readonly type: 'empty' }
  | { readonly type: 'reversed' };

/** the part of [startAt, endAt) that the retention still holds. */
export function clampWindow(window: { startAt: number; endAt: number }, nowMs: number): ClampedWindow {
  if (window.endAt <= window.startAt) return { type: 'reversed' };
  const startAt = Math.max(window.startAt, nowMs - RETENTION_MS);
  return startAt < window.endAt ? { type: 'window', startAt, endAt: window.endAt } : { type: 'empty' };
}

/** How long `telemetry.pings` keeps them: no ping sees a version that ended earlier. */
export const PINGS_KEPT_MS = 16 * 86_400_000;
