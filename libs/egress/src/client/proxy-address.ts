import { isIP } from 'node:net';
import type { Lookup } from '../address/dns-lookup.js';

/** undefined: the name cannot be resolved, and never could. */
export type ProxyAddress = () => Promise<string | undefined>;

/** How late a proxy that has moved is noticed. */
const KEPT_MS = 5_000;
/** As for receivers (resolve-host.ts): while no connection at all can be made, that may change soon. */
const FAILURE_KEPT_MS = 1_000;

/**
 * All connections lead through the proxy, so its name is asked for once for all of them: a question for each would come to
 * the name servers beside the lookups that are shared out. While a question fails, the last answer stays.
 */
export function createProxyAddress(host: string, lookup: Lookup, monotonicMs: () => number): ProxyAddress {
  let known: string | undefined;
  let asked: Promise<string | undefined> | undefined;
  let keptUntilMs = 0;

  async function ask(): Promise<string | undefined> {
    const [first] = await lookup(host).catch(() => []);
    known = first?.address ?? known;
    if (known === undefined) keptUntilMs = monotonicMs() + FAILURE_KEPT_MS;
    return known;
  }

  return () => {
    if (isIP(host) !== 0) return Promise.resolve(host);
    if (asked === undefined || monotonicMs() >= keptUntilMs) {
      keptUntilMs = monotonicMs() + KEPT_MS;
      asked = ask();
    }
    return asked;
  };
}
