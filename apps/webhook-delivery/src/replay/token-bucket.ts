/** The interval between writes: a rate of 500 per second makes five transactions of 100. */
const TICK_MS = 200;
/** Up to this much unused time can be made up for. */
const BURST_MS = 400;

/** A token bucket: how many deliveries may be written now, at `ratePerSecond` on average. */
export interface TokenBucket {
  /** How many of `wanted` may be written at once; 0: not yet. Small portions are saved up. */
  take(wanted: number): number;
  giveBack(count: number): void;
  /** How long until `take` returns more than 0; 0: it would now. */
  waitMs(wanted: number): number;
}

export function createTokenBucket(ratePerSecond: number, monotonicMs: () => number): TokenBucket {
  const perMs = ratePerSecond / 1_000;
  const capacity = Math.max(1, perMs * BURST_MS);
  const portion = Math.max(1, Math.floor(perMs * TICK_MS));
  let saved = 0;
  let savedAt = monotonicMs();

  const refill = (): void => {
    const atMs = monotonicMs();
    saved = Math.min(capacity, saved + (atMs - savedAt) * perMs);
    savedAt = atMs;
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
      return Math.max(0, Math.min(TICK_MS, Math.ceil(missing / perMs)));
    },
  };
}
