import { Resolver } from 'node:dns/promises';
import { createHostsFile } from './hosts-file.js';
import type { Lookup, ResolvedAddress } from './lookup.js';

export interface DnsLookupOptions {
  /** `address` or `address:port`, IPv6 in brackets. Default: those of the system (resolv.conf). */
  readonly servers?: readonly string[];
  /** Names that the name servers are not asked for. Default /etc/hosts. */
  readonly hostsPath?: string;
  /** For the first try; a second one waits twice as long. Default 1,200. */
  readonly queryTimeoutMs?: number;
  /** How long the answer of one address family waits for the other one. Default 400. */
  readonly otherFamilyMs?: number;
  readonly now?: () => number;
}

const HOSTS_MAX_AGE_MS = 5_000;
const TRIES = 2;

/**
 * Asks the name servers itself instead of `getaddrinfo`. That one runs on the few threads shared by the whole process:
 * four subscribers whose name servers never answer would stop the lookups of all others. It also applies search
 * domains, with which a public name can become an inner one. The hosts file still comes first, as operators expect.
 *
 * Rejects with a `code` as `dns.lookup` does (ENOTFOUND, ENODATA, ESERVFAIL, ETIMEOUT...).
 */
export function createDnsLookup(options: DnsLookupOptions = {}): Lookup {
  const { servers, queryTimeoutMs = 1_200, otherFamilyMs = 400, now = Date.now } = options;
  const hosts = createHostsFile({ path: options.hostsPath ?? '/etc/hosts', now, maxAgeMs: HOSTS_MAX_AGE_MS });
  let resolver: Resolver | undefined;

  function currentResolver(): Resolver {
    if (resolver === undefined) {
      resolver = new Resolver({ timeout: queryTimeoutMs, tries: TRIES });
      if (servers !== undefined) resolver.setServers(servers);
    }
    return resolver;
  }

  async function fromDns(name: string): Promise<ResolvedAddress[]> {
    const used = currentResolver();
    const ipv4 = used.resolve4(name).then((addresses) => addresses.map((address) => ({ address, family: 4 })));
    const ipv6 = used.resolve6(name).then((addresses) => addresses.map((address) => ({ address, family: 6 })));
    try {
      return await bothFamilies([ipv4, ipv6], otherFamilyMs);
    } catch (error) {
      // The servers of the system may have changed since they were read: read them again for the next name.
      if (isServerFailure(error) && resolver === used) resolver = undefined;
      throw error;
    }
  }

  return async (hostname) => {
    const name = hostname.toLowerCase();
    const listed = (await hosts()).get(name);
    if (listed !== undefined) return listed.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    // RFC 6761: never a matter for a name server, which could answer anything.
    if (name === 'localhost' || name.endsWith('.localhost')) return [{ address: '127.0.0.1', family: 4 }];
    return fromDns(name);
  };
}

/**
 * Gives what there is once both families are known, or a little after the first one that has addresses: many name
 * servers drop the question for the family that they do not know, and the known one must not wait for that.
 *
 * IPv4 first: where it works at all it works everywhere, and an IPv6 address without a route costs time.
 */
function bothFamilies(
  questions: readonly Promise<ResolvedAddress[]>[],
  otherFamilyMs: number,
): Promise<ResolvedAddress[]> {
  const found: ResolvedAddress[] = [];
  const errors: unknown[] = [];
  let unanswered = questions.length;
  let timer: NodeJS.Timeout | undefined;

  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what the resolver gave
      if (found.length === 0) reject(mostTelling(errors));
      else resolve(found.sort((left, right) => left.family - right.family));
    };
    const onAnswer = (): void => {
      unanswered -= 1;
      if (unanswered === 0) finish();
      else if (found.length > 0) timer = setTimeout(finish, otherFamilyMs);
    };
    for (const question of questions) {
      void question
        .then(
          (addresses) => found.push(...addresses),
          (error: unknown) => errors.push(error),
        )
        .then(onAnswer);
    }
  });
}

/** "No such name" and "no answer" say more than "no address of this family". */
function mostTelling(errors: readonly unknown[]): unknown {
  return errors.find((error) => codeOf(error) !== 'ENODATA') ?? errors[0] ?? new Error('no answer');
}

function isServerFailure(error: unknown): boolean {
  return !['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes(codeOf(error) ?? '');
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
