import { isIP } from 'node:net';
import { NewestMap } from '../newest-map.js';
import { classifyAddress, parseSubnets, type Subnet } from './classify-address.js';
import { codeOf, createDnsLookup, type Lookup, type ResolvedAddress } from './dns-lookup.js';

export type HostResolution =
  | { readonly type: 'resolved'; readonly addresses: readonly ResolvedAddress[] }
  | { readonly type: 'refused'; readonly detail: string }
  | { readonly type: 'unresolvable'; readonly detail: string };

/** Resolves a host (a name or an address) and classifies every address. */
export type HostResolver = (host: string) => Promise<HostResolution>;

const DEFAULT_LOOKUP_TIMEOUT_MS = 5_000;

export interface HostResolverOptions {
  readonly allowedSubnets: readonly Subnet[];
  /** Subnets, and host names with all their subdomains, that are refused although they are public. */
  readonly denied?: readonly string[] | undefined;
  readonly lookup?: Lookup | undefined;
  /** Default 5,000. */
  readonly lookupTimeoutMs?: number | undefined;
  readonly monotonicMs?: (() => number) | undefined;
}

/** How long a name that does not exist, or has no address, is remembered. */
const ABSENT_MS = 5_000;
/** The same for a name with too many addresses: each answer is read in full before they can be counted. */
const CROWDED_MS = 60_000;
/** The same for a name with failing or silent servers, or a refused address: that may change soon. */
const UNKNOWN_MS = 1_000;
const MAX_FAILURES = 4_096;
/** The largest services have a dozen. A response may have thousands, which take milliseconds to classify. */
const MAX_ADDRESSES = 64;

/**
 * Refuses a host if ANY of its addresses is refused: an attacker who mixes one internal address into public ones must
 * not get through by chance. Concurrent lookups of one name share a query. Failures and refusals are remembered
 * briefly, so that attempts for such a name do not become as many queries; addresses never are.
 */
export function createHostResolver(options: HostResolverOptions): HostResolver {
  const { allowedSubnets, lookup = createDnsLookup(), lookupTimeoutMs = DEFAULT_LOOKUP_TIMEOUT_MS } = options;
  const isSubnet = (text: string): boolean => text.includes('/');
  const deniedSubnets = parseSubnets((options.denied ?? []).filter(isSubnet));
  const deniedHosts = (options.denied ?? []).filter((text) => !isSubnet(text)).map((name) => name.toLowerCase());
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  const failures = new NewestMap<string, { readonly resolution: HostResolution; readonly untilMs: number }>(
    MAX_FAILURES,
  );
  // A burst of new connections to a host is one query, not one per connection.
  const pending = new Map<string, Promise<HostResolution>>();

  async function ask(host: string): Promise<HostResolution> {
    if (deniedHosts.some((name) => host === name || host.endsWith(`.${name}`)))
      return { type: 'refused', detail: `${host} is a host that is not called from here (denied)` };
    let addresses: readonly ResolvedAddress[] | undefined;
    try {
      addresses =
        isIP(host) === 0 ? await within(lookupTimeoutMs, lookup(host)) : [{ address: host, family: isIP(host) }];
    } catch (error) {
      const code = codeOf(error);
      const isAbsent = code === 'ENOTFOUND' || code === 'ENODATA';
      return failed(host, `cannot be resolved (${code ?? 'lookup failed'})`, isAbsent ? ABSENT_MS : UNKNOWN_MS);
    }
    if (addresses === undefined) return failed(host, 'was not resolved in time', UNKNOWN_MS);
    if (addresses.length === 0) return failed(host, 'has no address', ABSENT_MS);
    if (addresses.length > MAX_ADDRESSES) return failed(host, 'has too many addresses', CROWDED_MS);
    for (const { address } of addresses) {
      const verdict = classifyAddress(address, allowedSubnets, deniedSubnets);
      // Omits the address itself: an internal name must not be resolved for outsiders.
      if (verdict.type === 'refused') {
        const detail = `${host} is not at a public address (${verdict.reason})`;
        return remember(host, { type: 'refused', detail }, UNKNOWN_MS);
      }
    }
    return { type: 'resolved', addresses };
  }

  function failed(host: string, what: string, rememberedMs: number): HostResolution {
    return remember(host, { type: 'unresolvable', detail: `${host} ${what}` }, rememberedMs);
  }

  function remember(host: string, resolution: HostResolution, forMs: number): HostResolution {
    failures.set(host, { resolution, untilMs: monotonicMs() + forMs });
    return resolution;
  }

  return (host) => {
    const shared = pending.get(host);
    if (shared !== undefined) return shared;
    const failure = failures.get(host);
    if (failure !== undefined && monotonicMs() < failure.untilMs) return Promise.resolve(failure.resolution);
    const answer = ask(host).finally(() => pending.delete(host));
    pending.set(host, answer);
    return answer;
  };
}

/** undefined on timeout: a lookup that never settles must not make its name unreachable forever. */
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
