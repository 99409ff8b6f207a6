import { parseSubnets } from '../address/classify-address.js';
import type { Lookup } from '../address/lookup.js';
import { createHostResolver } from '../address/resolve-host.js';
import { parseSubscriberUrl } from '../url/subscriber-url.js';
import { createCheckedConnector } from './checked-connector.js';
import type { EgressResult } from './egress-result.js';
import { Exchange } from './exchange.js';
import { createOriginPools, type OriginLease } from './origin-pools.js';
import type { FilteredDispatch } from './watched-client.js';

export const DEFAULT_DEADLINE_MS = 5_000;
export const DEFAULT_MAX_RESPONSE_BYTES = 4_096;

export interface EgressClientOptions {
  /** CIDR subnets that may be reached in spite of R-27; development only. */
  readonly allowedSubnets: readonly string[];
  /** Calls http URLs next to https ones; development only. */
  readonly allowHttp: boolean;
  /** Default: `createDnsLookup()`, the name servers of the system. */
  readonly lookup?: Lookup;
  /** Requests beyond these wait, their deadline running. Default 256. */
  readonly connectionsPerOrigin?: number;
  /** Origins without a request in flight that are remembered. Default 1,024. */
  readonly maxIdleOrigins?: number;
  /** An unused connection is closed after this. Default 30,000. */
  readonly keepAliveMs?: number;
  /** A busy connection too is replaced after this, so that a moved host is found. Default 120,000. */
  readonly maxConnectionAgeMs?: number;
  /** Over lookup, TCP and TLS of one connection. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /** Default 16 KiB, announcements (1xx) included. */
  readonly maxResponseHeaderBytes?: number;
  /** Certificate authorities to trust besides the public ones, PEM. */
  readonly trustedCa?: string;
}

export interface EgressRequest {
  readonly url: string;
  /** Names in lower case. `accept-encoding`, `content-length` and `host` are the client's own. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  /** Over connect, TLS, request and response. Default 5,000. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Default 4 KiB. */
  readonly maxResponseBytes?: number;
}

export interface EgressClient {
  /** One POST, sent at most once: no redirect is followed, nothing is sent again. Never rejects for network reality. */
  post(request: EgressRequest): Promise<EgressResult>;
  /** Ends all connections; posts in flight settle as errors. Wait for them first to stop cleanly. */
  close(): Promise<void>;
}

/**
 * The only way out of the system: every connection goes to an address that was checked as it was resolved,
 * without redirects, without a proxy from the environment, with TLS always verified.
 */
export function createEgressClient(options: EgressClientOptions): EgressClient {
  const connectTimeoutMs = options.connectTimeoutMs ?? DEFAULT_DEADLINE_MS;
  const resolve = createHostResolver({
    allowedSubnets: parseSubnets(options.allowedSubnets),
    lookup: options.lookup,
    lookupTimeoutMs: connectTimeoutMs,
  });
  const connector = createCheckedConnector({ resolve, connectTimeoutMs, trustedCa: options.trustedCa });
  const pools = createOriginPools({
    connect: connector.connect,
    connectionsPerOrigin: options.connectionsPerOrigin ?? 256,
    maxIdleOrigins: options.maxIdleOrigins ?? 1_024,
    keepAliveMs: options.keepAliveMs ?? 30_000,
    maxConnectionAgeMs: options.maxConnectionAgeMs ?? 120_000,
    maxResponseHeaderBytes: options.maxResponseHeaderBytes ?? 16_384,
  });
  let closed = false;

  function post(request: EgressRequest): Promise<EgressResult> {
    if (closed) return Promise.resolve({ type: 'error', errorCode: 'network_error', detail: 'the client is closed' });
    if (request.signal?.aborted === true) return Promise.resolve({ type: 'aborted' });
    const parsed = parseSubscriberUrl(request.url, options);
    if (parsed.type === 'refused') {
      return Promise.resolve({ type: 'error', errorCode: 'url_refused', detail: parsed.message });
    }
    const lease = pools.lease(parsed.url.origin);
    return send(lease, `${parsed.url.pathname}${parsed.url.search}`, request);
  }

  return {
    post,
    close: () => {
      closed = true;
      connector.destroyPending();
      return pools.destroy();
    },
  };
}

function send(lease: OriginLease, path: string, request: EgressRequest): Promise<EgressResult> {
  return new Promise((resolve) => {
    const exchange = new Exchange({
      deadlineMs: request.deadlineMs ?? DEFAULT_DEADLINE_MS,
      maxResponseBytes: request.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
      signal: request.signal,
      settle: (result) => {
        lease.release();
        resolve(result);
      },
    });
    const headers = { 'user-agent': 'Waypost', ...request.headers, 'accept-encoding': 'identity' };
    const { onFilter } = exchange;
    const dispatch: FilteredDispatch = { path, method: 'POST', headers, body: request.body, onFilter };
    lease.pool.dispatch(dispatch, exchange);
  });
}
