import { setTimeout as sleep } from 'node:timers/promises';

export interface Pacer {
  /** How many to send at a time. */
  readonly chunkSize: number;
  /** Resolves when `count` more may go. */
  take(count: number): Promise<void>;
}

export interface Clock {
  now(): number;
  sleep(ms: number): Promise<unknown>;
}

const systemClock: Clock = { now: Date.now, sleep };

const UNPACED_CHUNK = 2_000;
const CHUNKS_PER_SECOND = 20;

/** Spreads sending evenly at `perSecond`; null: as fast as it goes. */
export function createPacer(perSecond: number | null, clock: Clock = systemClock): Pacer {
  if (perSecond === null) return { chunkSize: UNPACED_CHUNK, take: () => Promise.resolve() };
  const startedAt = clock.now();
  let taken = 0;
  return {
    chunkSize: Math.min(UNPACED_CHUNK, Math.max(1, Math.floor(perSecond / CHUNKS_PER_SECOND))),
    async take(count) {
      const waitMs = startedAt + (taken * 1_000) / perSecond - clock.now();
      taken += count;
      if (waitMs > 0) await clock.sleep(waitMs);
    },
  };
}
