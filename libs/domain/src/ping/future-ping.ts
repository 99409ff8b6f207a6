import type { TelemetryPing } from '../records/telemetry-ping.js';

/** How far ahead of its receipt, and of its record's append, an eventTime may be. */
export const MAX_AHEAD_MS = 300_000;

/** A device whose clock is ahead may stamp both times with it, but not the append. */
export function isFuture(
  { eventTime, receivedTime }: Pick<TelemetryPing, 'eventTime' | 'receivedTime'>,
  appendedAt: number,
  maxAheadMs = MAX_AHEAD_MS,
): boolean {
  return eventTime - receivedTime > maxAheadMs || eventTime - appendedAt > maxAheadMs;
}
