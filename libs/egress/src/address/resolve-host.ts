import { isIP } from 'node:net';
import { classifyAddress, type Subnet } from './classify-address.js';
import { codeOf, createDnsLookup, type Lookup, type ResolvedAddress } from './dns-lookup.js';

export type HostResolution =
  | { readonly type: 'resolved'; readonly addresses: readonly ResolvedAddress[] }
  | { readonly type: 'refused'; readonly detail: string }
  | { readonly type: 'unresolvable'; readonly detail: string };

/** Resolves a host (a name or an address) and classifies every address. */
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
 * Refuses a host when ANY of its addresses is refused: an attacker who mixes one internal address into public ones must
 * not get through by chance. Concurrent lookups of one name share a query.
 */
export function createHostResolver(options: HostResolverOptions): HostResolver {
  const { allowedSubnets, lookup = createDnsLookup(), lookupTimeoutMs = DEFAULT_LOOKUP_TIMEOUT_MS } = options;
  // A burst of new connections to a host is one query, not one per connection.
  const pending = new Map<string, Promise<HostResolution>>();

  async function ask(host: string): Promise<HostResolution> {
    let addresses: readonly ResolvedAddress[] | undefined;
    try {
      addresses =
        isIP(host) === 0 ? await within(lookupTimeoutMs, lookup(host)) : [{ address: host, family: isIP(host) }];
    } catch (error) {
      return { type: 'unresolvable', detail: `${host} cannot be resolved (${codeOf(error) ?? 'lookup failed'})` };
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
    const shared = pending.get(host);
    if (shared !== undefined) return shared;
    const answer = ask(host).finally(() => pending.delete(host));
    pending.set(host, answer);
    return answer;
  };
}

/** undefined on timeout: a lookup that never settles must not make its name unreachable for good. */
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
