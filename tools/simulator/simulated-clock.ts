/** Enough for an hour at 24 times the speed. */
const HEAD_START_MS = 24 * 3_600_000;

/** The fleet's time at a time of this machine, both in epoch milliseconds. */
export type SimulatedClock = (nowMs: number) => number;

/**
 * A fast fleet begins a day ago and continues at real speed once it has caught up: a ping from the future would be
 * rejected.
 */
export function createSimulatedClock(startedAt: number, speedUp: number): SimulatedClock {
  const beginsAt = speedUp > 1 ? startedAt - HEAD_START_MS : startedAt;
  return (nowMs) => Math.min(nowMs, beginsAt + (nowMs - startedAt) * speedUp);
}
