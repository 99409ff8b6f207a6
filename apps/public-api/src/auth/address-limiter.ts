import type { Request } from 'express';
import { ApiError } from '../errors/api-error.js';
import type { RateLimiter } from './rate-limiter.js';

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
      if (rate.type === 'allowed') {
        return () => {
          limiter.giveBack(client);
        };
      }
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
