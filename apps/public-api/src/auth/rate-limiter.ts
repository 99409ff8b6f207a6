import type { RateLimit } from '../runtime/runtime.module.js';

export type RateDecision =
  | { readonly type: 'allowed' }
  | { readonly type: 'limited'; /** Whole seconds, at least 1. */ readonly retryAfterS: number };

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Above this many callers, those whose bucket is full again are forgotten, and then the oldest. */
const SWEEP_ABOVE = 10_000;
const KEPT = 9_000;
/** Scanning all of them for each new caller would itself be an attack on the service. */
const SWEEP_EVERY_MS = 1_000;

export interface RateLimiter {
  take(caller: string): RateDecision;
  /** Undoes a `take` that was allowed. */
  giveBack(caller: string): void;
}

/**
 * A token bucket per caller, in the memory of this process: with several instances a caller gets that much from
 * each of them.
 */
export function createRateLimiter(limit: RateLimit, now: () => number): RateLimiter {
  const buckets = new Map<string, Bucket>();
  let sweptAtMs = Number.NEGATIVE_INFINITY;
  const filled = (bucket: Bucket, nowMs: number): number =>
    Math.min(limit.burst, bucket.tokens + (Math.max(0, nowMs - bucket.filledAt) / 1_000) * limit.perSecond);

  function bucketOf(caller: string, nowMs: number): Bucket {
    const known = buckets.get(caller);
    if (known !== undefined) return known;
    if (buckets.size >= SWEEP_ABOVE) makeRoom(nowMs);
    const fresh = { tokens: limit.burst, filledAt: nowMs };
    buckets.set(caller, fresh);
    return fresh;
  }

  function makeRoom(nowMs: number): void {
    if (nowMs - sweptAtMs >= SWEEP_EVERY_MS) {
      sweptAtMs = nowMs;
      for (const [other, bucket] of buckets) if (filled(bucket, nowMs) >= limit.burst) buckets.delete(other);
    }
    if (buckets.size < SWEEP_ABOVE) return;
    // Many at once: deleting the first entry of a map again and again is slow.
    for (const oldest of buckets.keys()) {
      if (buckets.size <= KEPT) return;
      buckets.delete(oldest);
    }
  }

  return {
    take(caller) {
      const nowMs = now();
      const bucket = bucketOf(caller, nowMs);
      bucket.tokens = filled(bucket, nowMs);
      bucket.filledAt = nowMs;
      if (bucket.tokens < 1) {
        return { type: 'limited', retryAfterS: Math.max(1, Math.ceil((1 - bucket.tokens) / limit.perSecond)) };
      }
      bucket.tokens -= 1;
      return { type: 'allowed' };
    },
    giveBack(caller) {
      // A bucket that has been forgotten is full.
      const bucket = buckets.get(caller);
      if (bucket !== undefined) bucket.tokens = Math.min(limit.burst, bucket.tokens + 1);
    },
  };
}
