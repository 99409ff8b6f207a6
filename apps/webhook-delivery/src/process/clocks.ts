/**
 * The two clocks of a process. The epoch clock dates what goes into the log and judges what others have dated. It may be
 * set back or ahead at any time, so every wait and interval in the process is measured by the monotonic one.
 */
export interface Clocks {
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

/** One time by both clocks: as the log has it, and as this process waits for it. */
export interface Moment {
  readonly epochMs: number;
  readonly monotonicMs: number;
}

const TOGETHER_MS = 1;
const MOST_READINGS = 3;

/** A process may lose its processor between the two readings, and whatever is due by them would be late by as much. */
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
 * A due time from the log. It is at most `longestWaitMs` away, as its rule says, even where the epoch clock was set back
 * since, or where the process that wrote it had another one.
 */
export function momentOfLog(epochMs: number, longestWaitMs: number, now: Moment): Moment {
  return { epochMs, monotonicMs: now.monotonicMs + Math.min(epochMs - now.epochMs, longestWaitMs) };
}
