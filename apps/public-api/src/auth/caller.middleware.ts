import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from '@waypost/platform';
import { ApiError } from '../errors/api-error.js';
import { requestIdOf } from '../errors/request-id.middleware.js';
import type { AddressLimiter } from '../limits/address-limiter.js';
import type { Quota, RateLimit, RateLimiter } from '../limits/rate-limiter.js';
import { type AdminKeys, FLEET_HEADER } from './admin-keys.js';
import { bearerToken, type RequestIdentity, setIdentity } from './caller.js';
import type { KeyDirectory } from './key-directory.js';

export interface CallerDeps {
  readonly keys: KeyDirectory;
  readonly admins: AdminKeys;
  readonly logger: Logger;
  /** Per key. */
  readonly limiter: RateLimiter;
  readonly addresses: AddressLimiter;
}

/**
 * Finds out who calls, and counts every request once, whatever its path: with a live API key for the key, else for the
 * address; 429 above the limit. Mounted before anything that can respond. What the caller may do is decided by the
 * guard.
 */
export function identifyCallers({ keys, admins, limiter, addresses, logger }: CallerDeps): RequestHandler {
  function findAdmin(request: Request, key: string): RequestIdentity {
    // Before the key is compared: a guess that the address has no more room for is not tried.
    const uncount = addresses.count(request);
    const keyId = admins.find(key);
    if (keyId === null) return { type: 'anonymous' };
    uncount();
    return { type: 'admin', keyId };
  }

  async function findIdentity(request: Request, key: string): Promise<RequestIdentity> {
    if (admins.hasAdminKeyForm(key)) return findAdmin(request, key);
    return keys.isGuess(key) ? tryGuess(request, key) : findKnown(request, key);
  }

  /** Counted before the lookup, so that a burst of guesses costs no more lookups than the address has left. */
  async function tryGuess(request: Request, key: string): Promise<RequestIdentity> {
    const uncount = addresses.count(request);
    const identity = await lookUp(keys, key);
    // A live key is not counted against the address.
    if (identity.type !== 'anonymous') uncount();
    return identity;
  }

  async function findKnown(request: Request, key: string): Promise<RequestIdentity> {
    const identity = await lookUp(keys, key);
    return identity.type === 'anonymous' ? countAnonymous(request) : identity;
  }

  function countAnonymous(request: Request): RequestIdentity {
    addresses.count(request);
    return { type: 'anonymous' };
  }

  return async (request, response, next) => {
    const key = bearerToken(request);
    const identity = key === null ? countAnonymous(request) : await findIdentity(request, key);
    if (identity.type === 'admin') logger.info('admin_request', describe(request, response, identity.keyId));
    if (identity.type === 'admin') countFor(limiter, identity.keyId, response);
    if (identity.type === 'caller') countFor(limiter, identity.caller.keyId, response);
    setIdentity(request, identity);
    next();
  };
}

/** Who did what for which fleet: the request id finds the rest. */
function describe(request: Request, response: Response, keyId: string) {
  const { method, path } = request;
  const fleetId = request.get(FLEET_HEADER) ?? null;
  return { requestId: requestIdOf(response), adminKeyId: keyId, method, path, fleetId };
}

async function lookUp(keys: KeyDirectory, key: string): Promise<RequestIdentity> {
  try {
    const caller = await keys.find(key);
    return caller === null ? { type: 'anonymous' } : { type: 'caller', caller };
  } catch (error) {
    // Endpoints that need no key respond all the same.
    return { type: 'unknown', error: error instanceof Error ? error : new Error(String(error)) };
  }
}

function countFor(limiter: RateLimiter, keyId: string, response: Response): void {
  const rate = limiter.take(keyId);
  response.set(rateLimitHeaders(limiter.limit, rate));
  if (rate.type === 'allowed') return;
  const headers = { 'retry-after': String(rate.retryAfterS) };
  throw new ApiError(429, 'rate_limited', 'This API key sends too many requests; see Retry-After.', { headers });
}

/** R-43, in the form of draft-ietf-httpapi-ratelimit-headers: what the key may do in this process. */
function rateLimitHeaders({ burst, perSecond }: RateLimit, { remaining, resetS }: Quota): Record<string, string> {
  return {
    'ratelimit-policy': `"key";q=${String(burst)};w=${String(Math.ceil(burst / perSecond))}`,
    ratelimit: `"key";r=${String(remaining)};t=${String(resetS)}`,
  };
}
