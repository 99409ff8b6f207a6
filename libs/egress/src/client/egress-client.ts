import { ATTEMPT_DEADLINE_MS, MAX_KEPT_BODY_BYTES } from '@waypost/domain';
import { parseSubnets } from '../address/classify-address.js';
import { createDnsLookup, type Lookup } from '../address/dns-lookup.js';
import { createHostResolver } from '../address/resolve-host.js';
import type { ClientIdentity } from '../certificate/client-certificate.js';
import type { AbortGroup } from './abort-group.js';
import {
  type CheckedConnector,
  createCheckedConnector,
  type LookUpPlaces,
  type RequestOwner,
} from './checked-connector.js';
import type { EgressErrorCode, EgressResult } from './egress-result.js';
import { Exchange, type ExchangeRequest } from './exchange.js';
import { OriginPool } from './origin-pool.js';
import { createTunnelOpener } from './proxy-tunnel.js';
import {
  createHeadWriter,
  createTargetReader,
  HeaderRefusedError,
  type HeadWriter,
  type RequestTarget,
} from './request-head.js';

export type { RequestOwner } from './checked-connector.js';

/** At most 8 MB, with URLs of maximum length. */
const MAX_KEPT_TARGETS = 4_096;

export interface EgressClientOptions {
  /** CIDR subnets exempt from R-27; development only. */
  readonly allowedSubnets: readonly string[];
  /** CIDR subnets, and host names with all their subdomains, that are never called. */
  readonly denied?: readonly string[];
  /** Development only. */
  readonly allowHttp: boolean;
  /** Default: `createDnsLookup()` with the name servers of the system. */
  readonly lookup?: Lookup;
  /** The queue for lookups of requests with an owner. Default: no queue. */
  readonly lookUps?: LookUpPlaces;
  /** The limit, beyond which requests wait while their deadline runs. Default 256. */
  readonly connectionsPerOrigin?: number;
  /** The maximum number of sockets of all origins together, shared among those that want more. Default 4,096. */
  readonly maxSockets?: number;
  /** How many origins without a request in flight are kept. Default 1,024. */
  readonly maxIdleOrigins?: number;
  /** When an idle connection is closed, or after 4 s if the server has announced no `Keep-Alive`. Default 30,000. */
  readonly keepAliveMs?: number;
  /** When even a busy connection is replaced, so that a moved host is found. Default 120,000. */
  readonly maxConnectionAgeMs?: number;
  /** Covers lookup, TCP and TLS of one connection. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /** Includes interim responses (1xx). Default 16 KiB. */
  readonly maxResponseHeaderBytes?: number;
  /** `http://user:password@host:port`: every connection is a CONNECT tunnel through this proxy. Default: direct. */
  readonly proxyUrl?: string;
  /** Certificate authorities to trust in addition to the public ones, PEM. */
  readonly trustedCa?: string;
  readonly monotonicMs?: () => number;
}

export interface EgressRequest {
  readonly url: string;
  /** Names are in lower case. The client sets `accept-encoding`, `content-length` and `host`, and ignores them here. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
  /** Presented to an https server that asks for a certificate. Default: none. */
  readonly identity?: ClientIdentity | undefined;
  /** The owner, to whose share the costs count. */
  readonly owner?: RequestOwner;
  /** Covers connect, TLS, request and response. Default 5,000. */
  readonly deadlineMs?: number;
  /** Costs more per post than an abort group. */
  readonly signal?: AbortSignal;
  readonly abortGroup?: AbortGroup;
  /** Called right before the request is written, after its waits for a connection. False: it settles as aborted, unsent. */
  readonly isWanted?: () => boolean;
  /** Default 4 KiB. */
  readonly maxResponseBytes?: number;
  /** False: the result does not wait for the body, and for an error has only what came with the headers. Default true. */
  readonly keepBody?: boolean;
}

export abstract class EgressClient {
  /**
   * Sends one POST without redirects or retries. It is repeated only if the server ended the idle connection that
   * carried it as it left. Never rejects for network failures.
   */
  abstract post(request: EgressRequest): Promise<EgressResult>;
  /** Closes all connections; posts in flight settle as errors. For a clean stop, wait for them first. */
  abstract close(): Promise<void>;
}

/**
 * The only way out of the system: every connection goes to an address checked when it was resolved, without
 * redirects, without a proxy from the environment, with TLS always verified.
 */
export function createEgressClient(options: EgressClientOptions): EgressClient {
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  const connector = connectorOf(options, monotonicMs);
  const origins = originPoolOf(options, connector, monotonicMs);
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
      origins.of(target, request.identity).submit(new Exchange(written, resolve));
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

function connectorOf(options: EgressClientOptions, monotonicMs: () => number): CheckedConnector {
  const { trustedCa, proxyUrl, lookUps, lookup = createDnsLookup(), connectTimeoutMs = ATTEMPT_DEADLINE_MS } = options;
  const resolve = createHostResolver({
    allowedSubnets: parseSubnets(options.allowedSubnets),
    denied: options.denied,
    lookup,
    lookupTimeoutMs: connectTimeoutMs,
    monotonicMs,
  });
  const openTunnel = proxyUrl === undefined ? undefined : createTunnelOpener({ proxyUrl, lookup, monotonicMs });
  return createCheckedConnector({ resolve, lookUps, connectTimeoutMs, trustedCa, openTunnel, monotonicMs });
}

function originPoolOf(
  options: EgressClientOptions,
  { connect, sweep }: CheckedConnector,
  monotonicMs: () => number,
): OriginPool {
  return new OriginPool({
    connect,
    onSweep: sweep,
    maxConnections: options.connectionsPerOrigin ?? 256,
    maxIdleOrigins: options.maxIdleOrigins ?? 1_024,
    maxSockets: options.maxSockets ?? 4_096,
    keepAliveMs: options.keepAliveMs ?? 30_000,
    maxAgeMs: options.maxConnectionAgeMs ?? 120_000,
    maxHeadBytes: options.maxResponseHeaderBytes ?? 16_384,
    monotonicMs,
  });
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
    head: target.headStart + lines,
    body,
    deadlineMs: request.deadlineMs ?? ATTEMPT_DEADLINE_MS,
    limits: {
      maxBodyBytes: request.maxResponseBytes ?? MAX_KEPT_BODY_BYTES,
      keepBody: request.keepBody ?? true,
    },
    signal: request.signal,
    group: request.abortGroup,
    isWanted: request.isWanted,
    owner: request.owner,
  };
}

function failed(errorCode: EgressErrorCode, detail: string): Promise<EgressResult> {
  return Promise.resolve({ type: 'error', errorCode, detail });
}
