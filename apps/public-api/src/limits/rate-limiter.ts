/** How often one caller may call: `perSecond` on average, `burst` at once. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** What a caller has left. */
export interface Quota {
  /** Calls that it could make at once. */
  readonly remaining: number;
  /** Whole seconds until it has all of them again. */
  readonly resetS: number;
}

export type RateDecision =
  | ({ readonly type: 'allowed' } & Quota)
  | ({ readonly type: 'limited'; /** Whole seconds, at least 1. */ readonly retryAfterS: number } & Quota);

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Above this many callers, those whose bucket is full again are forgotten, and then the oldest. */
const SWEEP_ABOVE = 10_000;
const KEPT = 9_000;
/** Scanning all of them for each new caller would itself be an attack on the service. */
const SWEEP_EVERY_MS = 1_000;

/**
 * A token bucket per caller, in the memory of this process: with several instances a caller gets that much from
 * each of them.
 */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();
  private sweptAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly limit: RateLimit,
    private readonly nowMs: () => number,
  ) {}

  take(caller: string): RateDecision {
    const nowMs = this.nowMs();
    const bucket = this.bucketOf(caller, nowMs);
    bucket.tokens = this.tokensOf(bucket, nowMs);
    bucket.filledAt = nowMs;
    if (bucket.tokens < 1) {
      const retryAfterS = Math.max(1, Math.ceil((1 - bucket.tokens) / this.limit.perSecond));
      return { type: 'limited', retryAfterS, ...this.quotaOf(bucket) };
    }
    bucket.tokens -= 1;
    return { type: 'allowed', ...this.quotaOf(bucket) };
  }

  /** Undoes a `take` that was allowed. */
  giveBack(caller: string): void {
    // A bucket that has been forgotten is full.
    const bucket = this.buckets.get(caller);
    if (bucket !== undefined) bucket.tokens = Math.min(this.limit.burst, bucket.tokens + 1);
  }

  private tokensOf({ tokens, filledAt }: Bucket, nowMs: number): number {
    const { perSecond, burst } = this.limit;
    return Math.min(burst, tokens + (Math.max(0, nowMs - filledAt) / 1_000) * perSecond);
  }

  private quotaOf({ tokens }: Bucket): Quota {
    const { perSecond, burst } = this.limit;
    return { remaining: Math.floor(tokens), resetS: Math.ceil((burst - tokens) / perSecond) };
  }

  private bucketOf(caller: string, nowMs: number): Bucket {
    const known = this.buckets.get(caller);
    if (known !== undefined) return known;
    if (this.buckets.size >= SWEEP_ABOVE) this.makeRoom(nowMs);
    const fresh = { tokens: this.limit.burst, filledAt: nowMs };
    this.buckets.set(caller, fresh);
    return fresh;
  }

  private makeRoom(nowMs: number): void {
    if (nowMs - this.sweptAtMs >= SWEEP_EVERY_MS) {
      this.sweptAtMs = nowMs;
      for (const [other, bucket] of this.buckets)
        if (this.tokensOf(bucket, nowMs) >= this.limit.burst) this.buckets.delete(other);
    }
    if (this.buckets.size < SWEEP_ABOVE) return;
    // Many at once: deleting the first entry of a map again and again is slow.
    for (const oldest of this.buckets.keys()) {
      if (this.buckets.size <= KEPT) return;
      this.buckets.delete(oldest);
    }
  }
}
