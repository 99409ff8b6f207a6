import type { Server } from 'node:http';
import type { ShareLimits } from '../limits/shares.js';

/** What one client may use of the server, in milliseconds, bytes and counts. */
export interface ServerLimits {
  /** From the first byte of a connection or request to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** To the end of its body. */
  readonly requestTimeoutMs: number;
  /** How long a connection may wait for its next request; longer than proxies in front keep theirs. */
  readonly keepAliveTimeoutMs: number;
  /** How often the two time limits are checked. */
  readonly checkIntervalMs: number;
  /** A connection without traffic, such as a client that does not read its response. */
  readonly silentTimeoutMs: number;
  /** Request line and headers together. */
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  readonly maxConnections: number;
  /** Of the responses that have been written and that their connections have not taken. */
  readonly maxUnreadBytes: ShareLimits;
}

const MIB = 1_048_576;

export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  keepAliveTimeoutMs: 65_000,
  checkIntervalMs: 1_000,
  silentTimeoutMs: 90_000,
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
  maxConnections: 4_096,
  maxUnreadBytes: { key: 16 * MIB, fleet: 32 * MIB, process: 128 * MIB },
};

/** For descriptions and messages. */
export const MAX_HEADER_SIZE = `${String(SERVER_LIMITS.maxHeaderBytes / 1_024)} KB`;

/** Must be called before the server listens: it reads two of these only then. */
export function limitServer(server: Server, limits: ServerLimits): void {
  server.headersTimeout = limits.headersTimeoutMs;
  server.requestTimeout = limits.requestTimeoutMs;
  server.keepAliveTimeout = limits.keepAliveTimeoutMs;
  server.timeout = limits.silentTimeoutMs;
  server.maxHeadersCount = limits.maxHeaders;
  server.maxConnections = limits.maxConnections;
  // Options of createServer, which the framework calls without any; the server reads them from these properties. By
  // default the time limits are checked only every 30 s, and requests without a Host get an empty response.
  Object.assign(server, {
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
    requireHostHeader: false,
  });
}
