import { connect as connectTcp, isIP, type Socket } from 'node:net';
import type { Lookup, ResolvedAddress } from '../address/dns-lookup.js';
import { createProxyAddress } from './proxy-address.js';

/** The operator's own proxy failed or refused. The message never has the proxy's address or credentials. */
class ProxyFailedError extends Error {
  readonly code = 'EGRESS_PROXY_FAILED';

  constructor(
    what: string,
    /** undefined: the proxy sent no usable response. */
    readonly statusCode?: number,
  ) {
    super(`the proxy ${what}`);
  }
}

export interface TunnelOpenerOptions {
  /** `http://user:password@host:port`; the credentials are percent-encoded and optional. */
  readonly proxyUrl: string;
  readonly lookup: Lookup;
  readonly monotonicMs: () => number;
}

/** Resolves with a paused socket whose other end is one of the addresses. Rejects when the signal aborts. */
export type TunnelOpener = (
  addresses: readonly ResolvedAddress[],
  port: number,
  signal: AbortSignal,
) => Promise<Socket>;

/** Proxies add headers to their reply, and pages to a refusal, which are not read. */
const MAX_REPLY_BYTES = 8_192;
const HEAD_END = '\r\n\r\n';
const PROXY_AUTHENTICATION_REQUIRED = 407;

/**
 * Tunnels by CONNECT (RFC 9110, 9.3.6). The proxy gets the checked address, never the name, so it resolves nothing and
 * cannot lead elsewhere (R-27). The proxy itself is the operator's and may be at any address.
 */
export function createTunnelOpener({ proxyUrl, lookup, monotonicMs }: TunnelOpenerOptions): TunnelOpener {
  const proxy = readProxyUrl(proxyUrl);
  const addressOfProxy = createProxyAddress(proxy.host, lookup, monotonicMs);

  async function openOne(address: ResolvedAddress, port: number, signal: AbortSignal): Promise<Socket> {
    const host = await addressOfProxy();
    if (host === undefined) throw new ProxyFailedError('has a name that cannot be resolved');
    signal.throwIfAborted();
    const socket = connectTcp({ host, port: proxy.port, noDelay: true, keepAlive: true });
    await established(socket, connectRequest(address, port, proxy.authorization), signal);
    return socket;
  }

  return async (addresses, port, signal) => {
    let failure: unknown = new ProxyFailedError('got no address');
    for (const address of addresses) {
      try {
        return await openOne(address, port, signal);
      } catch (error) {
        failure = error;
        if (!mayReachAnother(error)) break;
      }
    }
    throw failure;
  };
}

interface Proxy {
  readonly host: string;
  readonly port: number;
  readonly authorization: string | undefined;
}

function readProxyUrl(proxyUrl: string): Proxy {
  const { hostname, port, username, password } = new URL(proxyUrl);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 80),
    authorization: credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

function connectRequest({ address }: ResolvedAddress, port: number, authorization: string | undefined): string {
  const authority = `${isIP(address) === 6 ? `[${address}]` : address}:${String(port)}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (authorization !== undefined) lines.push(`Proxy-Authorization: ${authorization}`);
  return lines.join('\r\n') + HEAD_END;
}

/** Whether to try the next address: the proxy's response was not about us, and it may reach e.g. the other family. */
function mayReachAnother(error: unknown): boolean {
  return (
    error instanceof ProxyFailedError &&
    error.statusCode !== undefined &&
    error.statusCode !== PROXY_AUTHENTICATION_REQUIRED
  );
}

function established(socket: Socket, request: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    const settle = (error?: Error): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off('data', onData).off('close', onClose).off('end', onClose);
      if (error === undefined) {
        socket.pause();
        resolve();
        return;
      }
      socket.destroy();
      reject(error);
    };
    const onAbort = (): void => {
      settle(new ProxyFailedError('was given up'));
    };
    const onClose = (): void => {
      settle(new ProxyFailedError('closed the connection before the tunnel was made'));
    };
    const onData = (bytes: Buffer): void => {
      received += bytes.toString('latin1');
      const reply = readReply(received);
      if (reply !== 'more') settle(reply === 'tunnel' ? undefined : reply);
    };
    // Never removed: a socket without a listener throws when it fails.
    socket.on('error', () => {
      settle(new ProxyFailedError('cannot be reached'));
    });
    signal.addEventListener('abort', onAbort);
    socket.on('data', onData).on('close', onClose).on('end', onClose);
    socket.write(request, 'latin1');
  });
}

function readReply(received: string): 'more' | 'tunnel' | ProxyFailedError {
  const end = received.indexOf(HEAD_END);
  if (end < 0) return received.length > MAX_REPLY_BYTES ? new ProxyFailedError('sent an endless reply') : 'more';
  const status = /^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(received)?.[1];
  if (status === undefined) return new ProxyFailedError('did not answer with HTTP/1');
  const isMade = status.startsWith('2');
  if (!isMade) return new ProxyFailedError(`refused the connection with status ${status}`, Number(status));
  // Servers do not speak first in HTTP or TLS: these bytes would be mistaken for a response.
  if (end + HEAD_END.length < received.length) return new ProxyFailedError('sent bytes without being asked');
  return 'tunnel';
}
