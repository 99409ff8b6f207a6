/**
 * The two clocks of a process. The epoch clock dates log records and is compared with dates that others wrote. It may
 * be set back or ahead at any time, so every wait and interval in the process uses the monotonic one.
 */
export interface Clocks {
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

/** One moment on both clocks: for the log, and for waits in this process. */
export interface Moment {
  readonly epochMs: number;
  readonly monotonicMs: number;
}

const TOGETHER_MS = 1;
const MOST_READINGS = 3;

/** The OS may suspend the process between the two readings, which would make everything due by them late. */
export function momentNow({ nowMs, monotonicMs }: Clocks): Moment {
  for (let reading = 1; ; reading++) {
    const before = monotonicMs();
    const moment = { epochMs: nowMs(), monotonicMs: monotonicMs() };
    if (moment.monotonicMs - before < TOGETHER_MS || reading === MOST_READINGS) return moment;
  }
}

export function momentAfter({ epochMs, monotonicMs }: Moment, delayMs: number): Moment {
  return { epochMs: epochMs + delayMs, monotonicMs: monotonicMs + delayMs };
}

/**
 * Converts a due time from the log. The result is at most `longestWaitMs` away, even if the epoch clock was set back
 * since or differed on the host that wrote it.
 */
export function momentOfLog(epochMs: number, longestWaitMs: number, now: Moment): Moment {
  return { epochMs, monotonicMs: now.monotonicMs + Math.min(epochMs - now.epochMs, longestWaitMs) };
}
