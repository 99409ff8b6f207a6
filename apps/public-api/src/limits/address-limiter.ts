import type { Request } from 'express';
import ipaddr from 'ipaddr.js';
import { ApiError } from '../errors/api-error.js';
import type { RateLimiter } from './rate-limiter.js';

/**
 * Counts requests without a live API key per address: guessed keys, open endpoints, unknown paths. Requests with a live
 * key never count.
 */
export class AddressLimiter {
  constructor(private readonly limiter: RateLimiter) {}

  /** @returns a function that undoes it. @throws ApiError 429 above the limit of this address */
  count(request: Request): () => void {
    const client = clientOf(request.ip ?? '');
    const rate = this.limiter.take(client);
    if (rate.type === 'allowed') return () => this.limiter.giveBack(client);
    const headers = { 'retry-after': String(rate.retryAfterS) };
    const message = 'This address sends too many requests without a valid API key; see Retry-After.';
    throw new ApiError(429, 'rate_limited', message, { headers });
  }
}

/** IPv6 clients own whole networks, so the first half of the address identifies one. */
export function clientOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}
