import { constants } from 'node:crypto';
import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net';
import {
  connect as connectTls,
  type ConnectionOptions,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { ResolvedAddress } from '../address/dns-lookup.js';
import type { ClientIdentity } from '../certificate/client-certificate.js';
import { NewestMap } from '../newest-map.js';
import { TlsLimits } from './tls-limits.js';
import { TlsRefusals } from './tls-refusals.js';
import { TlsSessions } from './tls-sessions.js';

export interface ConnectTarget {
  /** `https:` or `http:`. */
  readonly protocol: string;
  /** A name or an address; IPv6 without brackets. */
  readonly hostname: string;
  /** Empty: the default of the protocol. */
  readonly port: string;
  readonly identity?: ClientIdentity | undefined;
  /** Receives the bytes in place of the stream. */
  readonly onread?: OnReadOpts;
}

export interface SocketOpenerOptions {
  /** PEM, trusted in addition to the public authorities. */
  readonly trustedCa?: string | undefined;
  /** For tests of a socket that reaches a different address than requested. */
  readonly openTcp?: typeof connectTcp | undefined;
  readonly monotonicMs?: (() => number) | undefined;
}

export interface SocketOpener {
  /** Connects to one of the addresses, tried one after the other; the host name is not resolved again. */
  readonly direct: (target: ConnectTarget, addresses: readonly ResolvedAddress[]) => Socket;
  /** Uses a connected, paused socket whose other end is the target. */
  readonly through: (tunnel: Socket, target: ConnectTarget) => Socket;
  /** The error of a target that must not be connected yet, because its server was refused recently. */
  readonly refusalOf: (target: ConnectTarget) => Error | undefined;
  /** Call every second or so. */
  readonly sweep: () => void;
}

/** Long enough for a distant round trip, short enough to leave time for the last address (RFC 8305, 5). */
const NEXT_ADDRESS_MS = 750;
const TCP_KEEP_ALIVE_MS = 60_000;

export function createSocketOpener(options: SocketOpenerOptions): SocketOpener {
  const { trustedCa, openTcp = connectTcp, monotonicMs = () => performance.now() } = options;
  const contextOf = createContexts(trustedCa);
  const sessions = new TlsSessions(monotonicMs);
  const refusals = new TlsRefusals(monotonicMs);
  const limits = new TlsLimits();

  function direct(target: ConnectTarget, addresses: readonly ResolvedAddress[]): Socket {
    const socketOptions = {
      host: target.hostname,
      port: portOf(target),
      lookup: lookupOf(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      ...(target.onread === undefined ? {} : { onread: target.onread }),
    };
    return target.protocol === 'https:' ? secure(target, socketOptions) : openTcp(socketOptions);
  }

  function through(tunnel: Socket, target: ConnectTarget): Socket {
    const isSecure = target.protocol === 'https:';
    const socket = isSecure ? secure(target, { socket: tunnel, host: target.hostname }) : tunnel;
    if (target.onread !== undefined) feed(target.onread, socket);
    return socket;
  }

  function secure(target: ConnectTarget, socketOptions: ConnectionOptions): TLSSocket {
    const { hostname, identity } = target;
    const peer = peerOf(target);
    const known = sessions.find(peer);
    const socket = connectTls({
      ...socketOptions,
      // An address is not a server name (RFC 6066). The certificate is then checked against `host`.
      ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
      ...(known === undefined ? {} : { session: known.session }),
      secureContext: contextOf(identity),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
    });
    limits.watch(socket);
    sessions.learn(peer, socket, known);
    refusals.learn(peer, socket);
    return socket;
  }

  return {
    direct,
    through,
    refusalOf: (target) => (target.protocol === 'https:' ? refusals.find(peerOf(target)) : undefined),
    sweep: () => {
      limits.sweep();
    },
  };
}

/** What a server shows and accepts depends on the client certificate. */
function peerOf(target: ConnectTarget): string {
  return `${target.hostname}:${String(portOf(target))} ${target.identity?.id ?? ''}`;
}

type Contexts = (identity: ClientIdentity | undefined) => SecureContext;

/**
 * With finite fields the server chooses the parameters: with 10,000 bits one handshake takes some 130 ms of the event
 * loop. With these curves each takes less than one, and every current server has one of them.
 */
const KEY_EXCHANGE = {
  ciphers: `${constants.defaultCoreCipherList}:!kDHE`,
  ecdhCurve: 'X25519:P-256:P-384:P-521',
} as const;

/** Each takes about 40 KiB. */
const MAX_CONTEXTS = 1_024;

/** Creates each context once, while it is among the newest: one per connection costs more than a resumed handshake. */
function createContexts(trustedCa: string | undefined): Contexts {
  const contexts = new NewestMap<string, SecureContext>(MAX_CONTEXTS);

  const make = (identity: ClientIdentity | undefined): SecureContext => {
    const pair = identity && { cert: identity.certificates, key: identity.privateKey };
    const context = createSecureContext({ ...KEY_EXCHANGE, ...pair });
    // Replaces the option `ca`, which would have to read all public authorities again, in 24 ms.
    if (trustedCa !== undefined) (context.context as AuthorityStore).addCACert(trustedCa);
    return context;
  };

  const anonymous = make(undefined);
  return (identity) => {
    if (identity === undefined) return anonymous;
    const known = contexts.get(identity.id);
    if (known !== undefined) return known;
    const made = make(identity);
    contexts.set(identity.id, made);
    return made;
  };
}

interface AuthorityStore {
  addCACert(pem: string): void;
}

export function portOf({ protocol, port }: ConnectTarget): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** Node applies `onread` only to sockets that it connects itself. */
function feed(onread: OnReadOpts, socket: Socket): void {
  const buffer = typeof onread.buffer === 'function' ? onread.buffer() : onread.buffer;
  socket.on('data', (bytes: Buffer) => {
    for (let from = 0; from < bytes.length && !socket.destroyed; from += buffer.length) {
      const piece = bytes.subarray(from, from + buffer.length);
      buffer.set(piece);
      onread.callback(piece.length, buffer);
    }
  });
  socket.resume();
}

/** A lookup for `net.connect` that returns only the checked addresses. */
function lookupOf(addresses: readonly ResolvedAddress[]) {
  return (
    _hostname: string,
    { all }: { all?: boolean | undefined },
    callback: (error: Error | null, address: string | ResolvedAddress[], family?: number) => void,
  ): void => {
    const [first] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
}
