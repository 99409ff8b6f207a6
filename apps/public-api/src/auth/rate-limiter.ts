/** How often one API key may call: `perSecond` on average, `burst` at once. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

export type RateDecision =
  | { readonly type: 'allowed' }
  | { readonly type: 'limited'; /** Whole seconds, at least 1. */ readonly retryAfterS: number };

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Above this many callers, those whose bucket has long been full again are forgotten. */
const SWEEP_ABOVE = 10_000;

/**
 * A token bucket per caller, in the memory of this process: with several instances a caller gets that much from
 * each of them.
 */
export function createRateLimiter(limit: RateLimit, now: () => number): { take(caller: string): RateDecision } {
  const buckets = new Map<string, Bucket>();
  const filled = (bucket: Bucket, nowMs: number): number =>
    Math.min(limit.burst, bucket.tokens + (Math.max(0, nowMs - bucket.filledAt) / 1_000) * limit.perSecond);

  function bucketOf(caller: string, nowMs: number): Bucket {
    const known = buckets.get(caller);
    if (known !== undefined) return known;
    if (buckets.size >= SWEEP_ABOVE) {
      for (const [other, bucket] of buckets) if (filled(bucket, nowMs) >= limit.burst) buckets.delete(other);
    }
    const fresh = { tokens: limit.burst, filledAt: nowMs };
    buckets.set(caller, fresh);
    return fresh;
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
  };
}
