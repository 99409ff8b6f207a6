import { parseSubnets } from '../address/classify-address.js';
import type { Lookup } from '../address/lookup.js';
import { createHostResolver } from '../address/resolve-host.js';
import type { AbortGroup } from './abort-group.js';
import { createCheckedConnector } from './checked-connector.js';
import type { EgressErrorCode, EgressResult } from './egress-result.js';
import { Exchange, type ExchangeRequest } from './exchange.js';
import { createOrigins } from './origins.js';
import { createHeadWriter, type HeadWriter, HeaderRefusedError } from './request-head.js';
import { createTargetReader, type RequestTarget } from './request-target.js';
import { createTurn } from './turn.js';

export const DEFAULT_DEADLINE_MS = 5_000;
export const DEFAULT_MAX_RESPONSE_BYTES = 4_096;
/** At most 8 MB of the longest URLs. */
const MAX_KEPT_TARGETS = 4_096;

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
  /** Names in lower case. `accept-encoding`, `content-length` and `host` are the client's own and left out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  /** Over connect, TLS, request and response. Default 5,000. */
  readonly deadlineMs?: number;
  /** Costs more per post than a group. */
  readonly signal?: AbortSignal;
  /** Made once for many posts that may have to be given up together. */
  readonly abortGroup?: AbortGroup;
  /** Default 4 KiB. */
  readonly maxResponseBytes?: number;
  /** False: the body is read within the same bounds, but the result has an empty one. Default true. */
  readonly keepBody?: boolean;
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
  const origins = createOrigins({
    connect: connector.connect,
    maxConnections: options.connectionsPerOrigin ?? 256,
    maxIdleOrigins: options.maxIdleOrigins ?? 1_024,
    keepAliveMs: options.keepAliveMs ?? 30_000,
    maxAgeMs: options.maxConnectionAgeMs ?? 120_000,
    maxHeadBytes: options.maxResponseHeaderBytes ?? 16_384,
    now: () => performance.now(),
    turn: createTurn(),
  });
  const targetOf = createTargetReader({ allowHttp: options.allowHttp }, MAX_KEPT_TARGETS);
  const writeHead = createHeadWriter();
  let closed = false;

  function post(request: EgressRequest): Promise<EgressResult> {
    if (closed) return failed('network_error', 'the client is closed');
    if (request.signal?.aborted === true || request.abortGroup?.aborted === true) {
      return Promise.resolve({ type: 'aborted' });
    }
    const target = targetOf(request.url);
    if (target.type === 'refused') return failed('url_refused', target.message);
    const written = exchangeRequest(target, request, writeHead);
    if (written instanceof HeaderRefusedError) return failed('network_error', written.message);
    request.abortGroup?.include(origins);
    return new Promise((resolve) => {
      origins.of(target).submit(new Exchange(written, resolve));
    });
  }

  return {
    post,
    close: () => {
      closed = true;
      connector.destroyPending();
      return origins.close(new Error('the client is closed'));
    },
  };
}

function exchangeRequest(
  target: RequestTarget,
  request: EgressRequest,
  writeHead: HeadWriter,
): ExchangeRequest | HeaderRefusedError {
  const body = typeof request.body === 'string' ? Buffer.from(request.body) : request.body;
  const lines = writeHead(request.headers, body.length);
  if (lines instanceof HeaderRefusedError) return lines;
  return {
    head: target.headBegin + lines,
    body,
    deadlineMs: request.deadlineMs ?? DEFAULT_DEADLINE_MS,
    limits: {
      maxBodyBytes: request.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
      keepBody: request.keepBody ?? true,
    },
    signal: request.signal,
    group: request.abortGroup,
  };
}

function failed(errorCode: EgressErrorCode, detail: string): Promise<EgressResult> {
  return Promise.resolve({ type: 'error', errorCode, detail });
}
