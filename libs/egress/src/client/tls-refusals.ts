import type { TLSSocket } from 'node:tls';
import { NewestMap } from '../newest-map.js';
import { errorDetailOf } from './egress-result.js';
import { overheadOf, TlsRefusedError, transportOf } from './tls-limits.js';

/** How long a refused certificate is remembered, and twice as long with each further refusal up to the longest time. */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
const MAX_REFUSALS = 4_096;
/** Handshakes with a chain of a public authority have 3 to 8 KiB; the keys of 16 KiB take up to 70 ms to verify. */
const MAX_ORDINARY_BYTES = 16_384;

interface Refusal {
  readonly detail: string;
  readonly forMs: number;
  readonly untilMs: number;
  readonly isCostly: boolean;
}

/**
 * Remembers servers whose certificate was refused, by host, port and client certificate. OpenSSL verifies every signature
 * of a chain before Node may refuse it, which can take half a second of the event loop (R-26, decision 0078). So new
 * connections fail in the meantime without a handshake; open ones go on.
 *
 * A costly handshake counts for the longest time at once, however it failed (a server could send the chain and hang up),
 * and whatever handshakes succeed beside it.
 */
export class TlsRefusals {
  private readonly refusals = new NewestMap<string, Refusal>(MAX_REFUSALS);

  constructor(private readonly monotonicMs: () => number) {}

  find(peer: string): TlsRefusedError | undefined {
    const known = this.refusals.get(peer);
    const leftMs = known === undefined ? 0 : known.untilMs - this.monotonicMs();
    if (known === undefined || leftMs <= 0) return undefined;
    return new TlsRefusedError(`${known.detail} (remembered, tried again in ${String(Math.ceil(leftMs / 1_000))} s)`);
  }

  /** Call with a new socket, after TlsLimits has seen it. */
  learn(peer: string, socket: TLSSocket): void {
    // The socket leaves its handle before it tells of an error, and may change it until it is connected.
    let transport = transportOf(socket);
    socket.once('connect', () => {
      transport = transportOf(socket);
    });
    socket.once('secureConnect', () => {
      if (!socket.destroyed) this.forget(peer);
    });
    socket.on('error', (error: Error) => {
      const isLong = !socket.authorized && overheadOf(socket, transport) > MAX_ORDINARY_BYTES;
      const isCostly = isLong || error instanceof TlsRefusedError;
      if (isCostly || hasRefusedCertificate(socket)) this.add(peer, error, isCostly);
    });
  }

  private add(peer: string, error: Error, isCostly: boolean): void {
    const nowMs = this.monotonicMs();
    const known = this.refusals.get(peer);
    // Of several that were made together, one counts.
    if (!isCostly && known !== undefined && nowMs < known.untilMs) return;
    const growingMs = known === undefined ? FIRST_MS : Math.min(2 * known.forMs, LONGEST_MS);
    const forMs = isCostly ? LONGEST_MS : growingMs;
    this.refusals.set(peer, { detail: errorDetailOf(error), forMs, untilMs: nowMs + forMs, isCostly });
  }

  private forget(peer: string): void {
    const known = this.refusals.get(peer);
    if (known?.isCostly === true && this.monotonicMs() < known.untilMs) return;
    this.refusals.delete(peer);
  }
}

/** The type says `Error`, but it is null, or the code of one. */
function hasRefusedCertificate(socket: TLSSocket): boolean {
  return Boolean(socket.authorizationError);
}
