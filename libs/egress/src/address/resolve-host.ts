import { isIP } from 'node:net';
import { classifyAddress, type Subnet } from './classify-address.js';
import { createDnsLookup } from './dns-lookup.js';
import type { Lookup, ResolvedAddress } from './lookup.js';

export type HostResolution =
  | { readonly type: 'resolved'; readonly addresses: readonly ResolvedAddress[] }
  | { readonly type: 'refused'; readonly detail: string }
  | { readonly type: 'unresolvable'; readonly detail: string };

/** Resolves a host (a name or an address) and judges every answer. */
export type HostResolver = (host: string) => Promise<HostResolution>;

export const DEFAULT_LOOKUP_TIMEOUT_MS = 5_000;

export interface HostResolverOptions {
  readonly allowedSubnets: readonly Subnet[];
  /** Default: `createDnsLookup()`. */
  readonly lookup?: Lookup | undefined;
  /** Default 5,000. */
  readonly lookupTimeoutMs?: number | undefined;
}

/**
 * Makes a resolver that asks for a name once and refuses the host when ANY of its addresses is bad: an attacker who
 * mixes one internal address into public ones must not win by luck of the draw.
 */
export function createHostResolver(options: HostResolverOptions): HostResolver {
  const { allowedSubnets, lookup = createDnsLookup(), lookupTimeoutMs = DEFAULT_LOOKUP_TIMEOUT_MS } = options;
  // A burst to a host with new connections is one question, not one per connection.
  const asking = new Map<string, Promise<HostResolution>>();

  async function ask(host: string): Promise<HostResolution> {
    let addresses: readonly ResolvedAddress[] | undefined;
    try {
      addresses =
        isIP(host) === 0 ? await within(lookupTimeoutMs, lookup(host)) : [{ address: host, family: isIP(host) }];
    } catch (error) {
      return { type: 'unresolvable', detail: `${host} cannot be resolved (${codeOf(error)})` };
    }
    if (addresses === undefined) return { type: 'unresolvable', detail: `${host} was not resolved in time` };
    if (addresses.length === 0) return { type: 'unresolvable', detail: `${host} has no address` };
    for (const { address } of addresses) {
      const verdict = classifyAddress(address, allowedSubnets);
      if (verdict.type === 'refused')
        return { type: 'refused', detail: `${host} is at ${address} (${verdict.reason})` };
    }
    return { type: 'resolved', addresses };
  }

  return (host) => {
    const asked = asking.get(host);
    if (asked !== undefined) return asked;
    const answer = ask(host).finally(() => asking.delete(host));
    asking.set(host, answer);
    return answer;
  };
}

/** Undefined when the time is over first: a lookup that never settles must not make its name unreachable for good. */
async function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, undefined);
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function codeOf(error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'lookup failed';
}
