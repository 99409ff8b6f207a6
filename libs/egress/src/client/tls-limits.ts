import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** The server is not worth the TLS that it wants: its connections are not made for a while (tls-refusals.ts). */
export class TlsRefusedError extends Error {
  readonly code = 'EGRESS_HANDSHAKES_REFUSED';
}

/** Servers send one or two per connection, Java's can be set to ten; each costs as much as a small request. */
const MAX_TICKETS = 16;
/** Some servers ask for the client certificate in a second handshake. */
const MAX_HANDSHAKES = 3;
/** The first one; with a chain of a public authority it has 3 to 8 KiB. A connection keeps its chain, parsed, to its end. */
const MAX_HANDSHAKE_BYTES = 49_152;
/** With each response and the idle time before it: some 2,400 key updates, which take some 25 ms. */
const MAX_OVERHEAD_BYTES = 65_536;

/** TLS does not limit what a server sends in handshakes and after them, and readers see none of it. */
export class TlsLimits {
  private readonly handshaking = new Set<TLSSocket>();

  watch(socket: TLSSocket): void {
    this.handshaking.add(socket);
    socket.once('close', () => this.handshaking.delete(socket));
    let tickets = 0;
    let handshakes = 0;
    socket.on('session', () => {
      tickets += 1;
      if (tickets > MAX_TICKETS) socket.destroy(new TlsRefusedError('the server sends too many TLS sessions'));
    });
    socket.on('secureConnect', () => {
      handshakes += 1;
      if (this.handshaking.delete(socket)) limitHandshake(socket);
      if (handshakes > MAX_HANDSHAKES) socket.destroy(new TlsRefusedError('the server begins TLS again too often'));
    });
  }

  /** Call every second or so: no event tells how much has come of a handshake that does not end. */
  sweep(): void {
    for (const socket of this.handshaking) limitHandshake(socket);
  }
}

function limitHandshake(socket: TLSSocket): void {
  if (overheadOf(socket) > MAX_HANDSHAKE_BYTES)
    socket.destroy(new TlsRefusedError('the TLS handshake of the server is too long'));
}

/**
 * Limits what a connection receives besides its responses. No event tells of key updates, requests for a new handshake
 * and session tickets beyond 10 KiB, and each takes as long as a response of the same size or longer.
 */
export class OverheadLimit {
  private before: number;

  constructor(private readonly socket: Socket) {
    this.before = overheadOf(socket);
  }

  /** Call every second or so: a server that sends nothing else is noticed no other way. */
  check(): void {
    if (overheadOf(this.socket) - this.before > MAX_OVERHEAD_BYTES)
      this.socket.destroy(new TlsRefusedError('the server sends too much besides its responses'));
  }

  /** Call after each response: what encryption adds to them must not add up. */
  renew(): void {
    this.check();
    this.before = overheadOf(this.socket);
  }
}

/** Counts the bytes that came, before TLS. */
interface Transport {
  readonly bytesRead?: number;
}

/**
 * Node does not document it. A socket made with `net.connect` and given to `tls.connect` would have a documented count, but
 * then `onread` is without effect, which adds 40 % to the cost of a post.
 */
export function transportOf(socket: Socket): Transport | undefined {
  return (socket as unknown as { readonly _handle?: { readonly _parent?: Transport } | null })._handle?._parent;
}

/** What TLS received and no reader got, in bytes. 0 without TLS, and where Node does not count (transportOf). */
export function overheadOf(socket: Socket, transport = transportOf(socket)): number {
  return transport?.bytesRead === undefined ? 0 : transport.bytesRead - socket.bytesRead;
}
