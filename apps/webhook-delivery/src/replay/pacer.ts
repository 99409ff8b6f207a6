/** So seldom is anything written: a rate of 500 a second makes five transactions of 100. */
const TICK_MS = 200;
/** What a slow moment left unused may be made up for. */
const BURST_MS = 400;

/** Says how many deliveries may be written now, so that no more than `ratePerSecond` are written on the average. */
export interface Pacer {
  /** Of `wanted`, as many as may be written at once; 0: not yet. Small portions are saved up into one. */
  take(wanted: number): number;
  /** Gives back what was taken and not used. */
  giveBack(count: number): void;
  /** Until asking again makes sense. */
  waitMs(wanted: number): number;
}

/** `now` is monotonic enough when it is the wall clock: a jump costs or grants at most one burst. */
export const createPacer = (ratePerSecond: number, now: () => number): Pacer => {
  const perMs = ratePerSecond / 1_000;
  const capacity = Math.max(1, perMs * BURST_MS);
  const portion = Math.max(1, Math.floor(perMs * TICK_MS));
  let saved = 0;
  let savedAt = now();

  const refill = (): void => {
    const nowMs = now();
    saved = Math.min(capacity, saved + Math.max(0, nowMs - savedAt) * perMs);
    savedAt = nowMs;
  };
  return {
    take: (wanted) => {
      refill();
      if (saved < Math.min(wanted, portion)) return 0;
      const taken = Math.min(wanted, Math.floor(saved));
      saved -= taken;
      return taken;
    },
    giveBack: (count) => {
      saved = Math.min(capacity, saved + count);
    },
    waitMs: (wanted) => {
      refill();
      const missing = Math.min(wanted, portion) - saved;
      return Math.max(1, Math.min(TICK_MS, Math.ceil(missing / perMs)));
    },
  };
};
