import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a name to all its addresses; rejects as `dns.lookup` does. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface DnsLookupOptions {
  /** `address` or `address:port`, IPv6 in brackets. Default: the name servers of the system (resolv.conf). */
  readonly servers?: readonly string[];
  /** Names listed here are never queried. Default /etc/hosts. */
  readonly hostsPath?: string;
  /** The timeout of the first try; the second waits twice as long. Default 1,200. */
  readonly queryTimeoutMs?: number;
  /** How long the addresses of one family wait for the other family. Default 400. */
  readonly otherFamilyMs?: number;
  readonly monotonicMs?: () => number;
}

const HOSTS_MAX_AGE_MS = 5_000;
const TRIES = 2;

/**
 * Queries the name servers directly instead of through `getaddrinfo`, which runs on the few threads that the whole
 * process shares: four subscribers whose name servers never respond would block the lookups of all others. It
 * also applies search domains, which can turn a public name into an internal one. The hosts file still comes first, as
 * operators expect.
 *
 * Rejects with a `code` like `dns.lookup` (ENOTFOUND, ENODATA, ESERVFAIL, ETIMEOUT...).
 */
export function createDnsLookup(options: DnsLookupOptions = {}): Lookup {
  const { servers, queryTimeoutMs = 1_200, otherFamilyMs = 400, monotonicMs = () => performance.now() } = options;
  const hosts = createHostsFile({ path: options.hostsPath ?? '/etc/hosts', monotonicMs, maxAgeMs: HOSTS_MAX_AGE_MS });
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
      // The system's name servers may have changed: read them again for the next name.
      if (isServerFailure(error) && resolver === used) resolver = undefined;
      throw error;
    }
  }

  return async (hostname) => {
    const name = hostname.toLowerCase();
    const listed = (await hosts()).get(name);
    if (listed !== undefined) return listed.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    // These names are never sent to a name server, which could return anything (RFC 6761).
    if (name === 'localhost' || name.endsWith('.localhost')) return [{ address: '127.0.0.1', family: 4 }];
    return fromDns(name);
  };
}

/**
 * Resolves once both families are known, or shortly after the first one with addresses: many name servers drop queries
 * for a family that they do not serve, and the other family must not wait for that.
 *
 * IPv4 first: it nearly always has a route, and an IPv6 address without a route costs time.
 */
function bothFamilies(
  queries: readonly Promise<ResolvedAddress[]>[],
  otherFamilyMs: number,
): Promise<ResolvedAddress[]> {
  const found: ResolvedAddress[] = [];
  const errors: unknown[] = [];
  let outstanding = queries.length;
  let timer: NodeJS.Timeout | undefined;

  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer);
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the error of the resolver
      if (found.length === 0) reject(mostInformative(errors));
      else resolve(found.sort((left, right) => left.family - right.family));
    };
    const onSettled = (): void => {
      outstanding -= 1;
      if (outstanding === 0) finish();
      else if (found.length > 0) timer = setTimeout(finish, otherFamilyMs);
    };
    for (const query of queries) {
      void query
        .then(
          (addresses) => found.push(...addresses),
          (error: unknown) => errors.push(error),
        )
        .then(onSettled);
    }
  });
}

/** "No such name" and "no answer" are more informative than "no address of this family". */
function mostInformative(errors: readonly unknown[]): unknown {
  return errors.find((error) => codeOf(error) !== 'ENODATA') ?? errors[0] ?? new Error('no answer');
}

function isServerFailure(error: unknown): boolean {
  return !['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes(codeOf(error) ?? '');
}

export function codeOf(error: unknown): string | undefined {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Names are in lower case. */
type HostsTable = ReadonlyMap<string, readonly string[]>;

/** Lines of `address name [name...]`; comments and lines without a valid address are ignored. */
function parseHosts(text: string): HostsTable {
  const table = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [address = '', ...names] = line.replace(/#.*$/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      const known = table.get(name);
      if (known === undefined) table.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return table;
}

interface HostsFileOptions {
  readonly path: string;
  readonly monotonicMs: () => number;
  /** A change to the file takes effect within this time. */
  readonly maxAgeMs: number;
}

/** Reads the file again if the cached table is too old. A missing or unreadable file is an empty table. */
function createHostsFile({ path, monotonicMs, maxAgeMs }: HostsFileOptions): () => Promise<HostsTable> {
  let reading: Promise<HostsTable> | undefined;
  let readAtMs = 0;
  return () => {
    if (reading === undefined || monotonicMs() - readAtMs >= maxAgeMs) {
      readAtMs = monotonicMs();
      reading = readFile(path, 'utf8').then(parseHosts, () => new Map());
    }
    return reading;
  };
}
