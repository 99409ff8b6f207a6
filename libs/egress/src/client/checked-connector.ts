import { isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { ResolvedAddress } from '../address/dns-lookup.js';
import type { HostResolution, HostResolver } from '../address/resolve-host.js';
import {
  type ConnectTarget as SocketTarget,
  createSocketOpener,
  portOf,
  type SocketOpenerOptions,
} from './open-socket.js';
import type { TunnelOpener } from './proxy-tunnel.js';

/** Owners of one fleet share the fleet's part. */
export interface RequestOwner {
  readonly id: string;
  readonly fleetId: string;
}

export interface ConnectTarget extends SocketTarget {
  readonly owner?: RequestOwner | undefined;
  /** Called once the lookup has had its turn; before `connect` returns if it need not wait. */
  readonly onTurn?: (() => void) | undefined;
}

/** Decides how many lookups run at a time, and for whom. */
export interface LookUpPlaces {
  during<T>(owner: RequestOwner, host: string, work: () => Promise<T>): Promise<T>;
}

class AddressRefusedError extends Error {
  readonly code = 'EGRESS_ADDRESS_REFUSED';
}

class HostUnresolvableError extends Error {
  readonly code = 'EGRESS_HOST_UNRESOLVABLE';
}

class ConnectFailedError extends Error {
  constructor(
    readonly code: 'ETIMEDOUT' | 'ECONNRESET',
    message: string,
  ) {
    super(message);
  }
}

export interface CheckedConnectorOptions extends SocketOpenerOptions {
  readonly resolve: HostResolver;
  readonly lookUps?: LookUpPlaces | undefined;
  /** Covers lookup, TCP, the proxy and TLS. */
  readonly connectTimeoutMs: number;
  /** Sends all connections through tunnels to the checked addresses. Default: direct connections. */
  readonly openTunnel?: TunnelOpener | undefined;
}

/** Calls back once: with a connected socket, for https after the handshake, or with the error. */
export type CheckedConnect = (
  target: ConnectTarget,
  callback: (...result: [error: null, socket: Socket] | [error: Error, socket: null]) => void,
) => void;

export interface CheckedConnector {
  readonly connect: CheckedConnect;
  /** Call every second or so: ends attempts of servers that send too much. */
  readonly sweep: () => void;
  /** Ends every connection attempt in progress; its caller gets an error. */
  destroyPending(): void;
}

/** The result of a lookup whose turn came too late. */
const GIVEN_UP: HostResolution = { type: 'unresolvable', detail: 'not looked up in time' };
/** A host with dozens of addresses must not make one attempt open dozens of connections. */
const MAX_TRIED_ADDRESSES = 4;

/**
 * Opens sockets to checked addresses only: a host is resolved once, every address is classified, and the socket
 * gets exactly these addresses, so that no second resolution can return something else (DNS rebinding). The address
 * that the socket reached is compared again before the first byte is written. TLS verifies the certificate against the
 * host name of the URL, whatever the environment says.
 */
export function createCheckedConnector(options: CheckedConnectorOptions): CheckedConnector {
  const { connectTimeoutMs, openTunnel } = options;
  const pending = new Set<(error: Error) => void>();
  const open = createSocketOpener(options);

  const begin: CheckedConnect = (target, callback) => {
    const { hostname } = target;
    let socket: Socket | undefined;
    let isDone = false;
    const abort = openTunnel === undefined ? undefined : new AbortController();
    const done = (error: Error | null): void => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      pending.delete(done);
      abort?.abort();
      if (error === null && socket !== undefined) {
        callback(null, socket);
        return;
      }
      // With the error, from which those who watch the socket learn (tls-sessions.ts, tls-refusals.ts).
      socket?.destroy(error ?? undefined);
      callback(error ?? new Error('no socket'), null);
    };
    // Runs after the events that waited while the event loop was blocked (see exchange.ts).
    const timer = setTimeout(() => setImmediate(() => done(timedOut(hostname, connectTimeoutMs))), connectTimeoutMs);
    pending.add(done);
    checkedAddresses(options, target, () => !isDone)
      .then(async (addresses) => {
        if (isDone) return;
        const isSecure = target.protocol === 'https:';
        if (openTunnel === undefined || abort === undefined) {
          socket = open.direct(target, addresses);
          watch(socket, { addresses, hostname, isConnected: false, isSecure, done });
          return;
        }
        const tunnel = await openTunnel(addresses, portOf(target), abort.signal);
        socket = open.through(tunnel, target);
        // The other end of the tunnel is the checked address; the socket only knows the proxy's.
        watch(socket, { addresses, hostname, isConnected: true, isSecure, done });
      })
      .catch(done);
  };

  const connect: CheckedConnect = (target, callback) => {
    const refusal = open.refusalOf(target);
    if (refusal === undefined) {
      begin(target, callback);
      return;
    }
    target.onTurn?.();
    // As late as any other failure: the caller does not expect one before this returns.
    queueMicrotask(() => {
      callback(refusal, null);
    });
  };

  return {
    connect,
    sweep: open.sweep,
    destroyPending() {
      for (const end of pending) end(new Error('the client is closed'));
    },
  };
}

function timedOut(hostname: string, afterMs: number): ConnectFailedError {
  return new ConnectFailedError('ETIMEDOUT', `no connection to ${hostname} within ${String(afterMs)} ms`);
}

interface Watched {
  readonly addresses: readonly ResolvedAddress[];
  readonly hostname: string;
  readonly isConnected: boolean;
  readonly isSecure: boolean;
  readonly done: (error: Error | null) => void;
}

function watch(socket: Socket, { addresses, hostname, isConnected, isSecure, done }: Watched): void {
  // Never removed: until the first request there is no other listener, and an abandoned socket may still fail.
  socket.on('error', done);
  socket.once('close', () => {
    done(new ConnectFailedError('ECONNRESET', `the connection to ${hostname} closed before it was made`));
  });
  if (isConnected && !isSecure) {
    done(null);
    return;
  }
  // Runs before the listener that starts TLS: the wrong host must not even receive a ClientHello.
  socket.prependOnceListener('connect', () => {
    const reached = socket.remoteAddress;
    if (reached === undefined || addresses.some(({ address }) => isSameAddress(address, reached))) return;
    socket.destroy(new AddressRefusedError(`${hostname} led to an address that was not checked`));
  });
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    if (!socket.destroyed) done(null);
  });
}

function isSameAddress(left: string, right: string): boolean {
  return left === right || ipaddr.process(left).toString() === ipaddr.process(right).toString();
}

async function checkedAddresses(
  { resolve, lookUps }: CheckedConnectorOptions,
  { hostname, owner, onTurn }: ConnectTarget,
  isWanted: () => boolean,
): Promise<readonly ResolvedAddress[]> {
  const asks = lookUps !== undefined && owner !== undefined && isIP(hostname) === 0;
  const lookUp = async (): Promise<HostResolution> => {
    if (!isWanted()) return GIVEN_UP;
    onTurn?.();
    return resolve(hostname);
  };
  const resolution = await (asks ? lookUps.during(owner, hostname, lookUp) : lookUp());
  switch (resolution.type) {
    case 'resolved':
      return triedOf(resolution.addresses);
    case 'refused':
      throw new AddressRefusedError(resolution.detail);
    case 'unresolvable':
      throw new HostUnresolvableError(resolution.detail);
  }
}

/** The first addresses of each family, alternating, so that both families are tried. */
function triedOf(addresses: readonly ResolvedAddress[]): readonly ResolvedAddress[] {
  const firstFamily = addresses[0]?.family;
  const ranked = [true, false].flatMap((isFirst) =>
    addresses
      .filter(({ family }) => (family === firstFamily) === isFirst)
      .map((address, rank) => ({ address, rank: rank * 2 + (isFirst ? 0 : 1) })),
  );
  return ranked
    .sort((left, right) => left.rank - right.rank)
    .slice(0, MAX_TRIED_ADDRESSES)
    .map(({ address }) => address);
}
