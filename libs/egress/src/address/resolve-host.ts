import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { classifyAddress, type Subnet } from './classify-address.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a name to all its addresses; rejects as `dns.lookup` does. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export type HostResolution =
  | { readonly type: 'resolved'; readonly addresses: readonly ResolvedAddress[] }
  | { readonly type: 'refused'; readonly detail: string }
  | { readonly type: 'unresolvable'; readonly detail: string };

/** Resolves a host (a name or an address) and judges every answer. */
export type HostResolver = (host: string) => Promise<HostResolution>;

export interface HostResolverOptions {
  readonly allowedSubnets: readonly Subnet[];
  readonly lookup?: Lookup | undefined;
}

/** The system's resolver: also knows the hosts file. */
const lookupAll: Lookup = (hostname) => systemLookup(hostname, { all: true });

/**
 * Makes a resolver that asks for a name once and refuses the host when ANY of its addresses is bad: an attacker who
 * mixes one internal address into public ones must not win by luck of the draw.
 */
export function createHostResolver({ allowedSubnets, lookup = lookupAll }: HostResolverOptions): HostResolver {
  // The system resolver runs on a few threads shared with file access and crypto. A name server that never answers
  // must not take one thread for every attempt: those asking for the same name at the same time share a question.
  const asking = new Map<string, Promise<HostResolution>>();

  async function ask(host: string): Promise<HostResolution> {
    let addresses: readonly ResolvedAddress[];
    try {
      addresses = isIP(host) === 0 ? await lookup(host) : [{ address: host, family: isIP(host) }];
    } catch (error) {
      return { type: 'unresolvable', detail: `${host} cannot be resolved (${codeOf(error)})` };
    }
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

function codeOf(error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'lookup failed';
}
