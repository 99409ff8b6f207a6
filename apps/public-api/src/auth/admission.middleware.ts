import type { Request, RequestHandler } from 'express';
import { ApiError } from '../errors/api-error.js';
import type { AddressLimiter } from '../security/address-limiter.js';
import { bearerToken } from './bearer-token.js';
import { type Origin, setOrigin } from './caller.js';
import type { KeyDirectory } from './key-directory.js';
import type { RateLimiter } from './rate-limiter.js';

export interface AdmissionDeps {
  readonly keys: KeyDirectory;
  /** By key. */
  readonly limiter: RateLimiter;
  readonly addresses: AddressLimiter;
}

/**
 * Counts every request once, whatever it is for: with a live API key for the key, else for the address; 429 for those
 * that have had their share. Before everything that can answer. Whether a route wants a key is the guard's to say.
 */
export function admitRequests({ keys, limiter, addresses }: AdmissionDeps): RequestHandler {
  async function findOrigin(request: Request, key: string): Promise<Origin> {
    // Guesses are counted before the store is asked, so that all those sent at once cost no more questions than the
    // address has left; a live key is not held against it afterwards.
    const uncount = keys.isGuess(key) ? addresses.count(request) : null;
    const origin = await ask(keys, key);
    if (origin.type !== 'nobody') uncount?.();
    else if (uncount === null) addresses.count(request);
    return origin;
  }

  function count(request: Request): Origin {
    addresses.count(request);
    return { type: 'nobody' };
  }

  return async (request, _response, next) => {
    const key = bearerToken(request);
    const origin = key === null ? count(request) : await findOrigin(request, key);
    if (origin.type === 'caller') countFor(limiter, origin.caller.keyId);
    setOrigin(request, origin);
    next();
  };
}

async function ask(keys: KeyDirectory, key: string): Promise<Origin> {
  try {
    const caller = await keys.find(key);
    return caller === null ? { type: 'nobody' } : { type: 'caller', caller };
  } catch (error) {
    // Routes that want no key answer all the same.
    return { type: 'unknown', error: error instanceof Error ? error : new Error(String(error)) };
  }
}

function countFor(limiter: RateLimiter, keyId: string): void {
  const rate = limiter.take(keyId);
  if (rate.type === 'allowed') return;
  const headers = { 'retry-after': String(rate.retryAfterS) };
  throw new ApiError(429, 'rate_limited', 'This API key calls too often; see Retry-After.', { headers });
}
