import type { Request } from 'express';
import { ApiError } from '../errors/api-error.js';

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

export interface RateLimiter {
  readonly limit: RateLimit;
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

  const quotaOf = ({ tokens }: Bucket): Quota => ({
    remaining: Math.floor(tokens),
    resetS: Math.ceil((limit.burst - tokens) / limit.perSecond),
  });

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
    limit,
    take(caller) {
      const nowMs = now();
      const bucket = bucketOf(caller, nowMs);
      bucket.tokens = filled(bucket, nowMs);
      bucket.filledAt = nowMs;
      if (bucket.tokens < 1) {
        const retryAfterS = Math.max(1, Math.ceil((1 - bucket.tokens) / limit.perSecond));
        return { type: 'limited', retryAfterS, ...quotaOf(bucket) };
      }
      bucket.tokens -= 1;
      return { type: 'allowed', ...quotaOf(bucket) };
    },
    giveBack(caller) {
      // A bucket that has been forgotten is full.
      const bucket = buckets.get(caller);
      if (bucket !== undefined) bucket.tokens = Math.min(limit.burst, bucket.tokens + 1);
    },
  };
}

/**
 * Counts requests without a live API key per address: guessed keys, open endpoints, unknown paths. Requests with a live
 * key never count.
 */
export interface AddressLimiter {
  /** @returns a function that undoes it. @throws ApiError 429 above the limit of this address */
  count(request: Request): () => void;
}

export function createAddressLimiter(limiter: RateLimiter): AddressLimiter {
  return {
    count(request) {
      const client = clientOf(request.ip ?? '');
      const rate = limiter.take(client);
      if (rate.type === 'allowed') return () => limiter.giveBack(client);
      const headers = { 'retry-after': String(rate.retryAfterS) };
      const message = 'This address sends too many requests without a valid API key; see Retry-After.';
      throw new ApiError(429, 'rate_limited', message, { headers });
    },
  };
}

/** IPv6 clients own whole networks, so the first half of the address identifies one. */
export function clientOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  return address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;
}

function groupsOf(address: string): string[] {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groups = (text: string | undefined): string[] => (text === undefined || text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail)];
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array.from({ length: missing }, () => '0'), ...after].map((group) =>
    group.replace(/^0+(?=.)/, ''),
  );
}
