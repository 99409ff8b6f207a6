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
}

/** Long enough for a distant round trip, short enough to leave time for the last address (RFC 8305, 5). */
const NEXT_ADDRESS_MS = 750;
const TCP_KEEP_ALIVE_MS = 60_000;

export function createSocketOpener(options: SocketOpenerOptions): SocketOpener {
  const { trustedCa, openTcp = connectTcp, monotonicMs = () => performance.now() } = options;
  const contextOf = createContexts(trustedCa);
  const sessions = new TlsSessions(monotonicMs);

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
    // A session depends on the client certificate with which it was created.
    const peer = `${hostname}:${String(portOf(target))} ${identity?.id ?? ''}`;
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
    limitHandshakes(socket);
    sessions.learn(peer, socket, known);
    return socket;
  }

  return { direct, through };
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

/** Servers send one or two per connection, Java's can be set to ten; each costs as much as a small request. */
const MAX_TICKETS = 16;
/** Some servers ask for the client certificate in a second handshake. */
const MAX_HANDSHAKES = 3;

class HandshakesRefusedError extends Error {
  readonly code = 'EGRESS_HANDSHAKES_REFUSED';
}

/** TLS does not limit what a server sends after the handshake, and readers see none of it. */
function limitHandshakes(socket: TLSSocket): void {
  let tickets = 0;
  let handshakes = 0;
  socket.on('session', () => {
    tickets += 1;
    if (tickets > MAX_TICKETS) socket.destroy(new HandshakesRefusedError('the server sends too many TLS sessions'));
  });
  socket.on('secureConnect', () => {
    handshakes += 1;
    if (handshakes > MAX_HANDSHAKES)
      socket.destroy(new HandshakesRefusedError('the server begins TLS again too often'));
  });
}

interface TlsSession {
  readonly session: Buffer;
  /** When the full handshake from which the session descends verified the certificate. */
  readonly verifiedAtMs: number;
}

const MAX_SESSIONS = 1_024;
/** Limits how late an expired or replaced certificate is noticed. */
const MAX_SESSION_AGE_MS = 600_000;

/**
 * Resumes handshakes, since a full one costs several times as much on both sides. Resuming skips the certificate check,
 * which is safe here: a session is kept only after this process verified the certificate against the same host name and
 * the same authorities. It is used only for that host, port and client certificate, for at most ten minutes after that
 * check, even if the server renews it. Only the verified server (or one that it shares its keys with) can resume it;
 * any other gets a full handshake with the full check. Every connection checks the address.
 */
class TlsSessions {
  private readonly sessions = new NewestMap<string, TlsSession>(MAX_SESSIONS);

  constructor(private readonly monotonicMs: () => number) {}

  find(peer: string): TlsSession | undefined {
    const known = this.sessions.get(peer);
    if (known === undefined || this.monotonicMs() - known.verifiedAtMs < MAX_SESSION_AGE_MS) return known;
    this.sessions.delete(peer);
    return undefined;
  }

  learn(peer: string, socket: TLSSocket, used: TlsSession | undefined): void {
    // Emitted only after the handshake was verified.
    socket.on('session', (session: Buffer) => {
      if (!socket.authorized || socket.destroyed) return;
      const verifiedAtMs = used !== undefined && socket.isSessionReused() ? used.verifiedAtMs : this.monotonicMs();
      this.sessions.set(peer, { session, verifiedAtMs });
    });
    // The session may be what the server fails on.
    if (used !== undefined) socket.once('error', () => this.sessions.delete(peer));
  }
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
