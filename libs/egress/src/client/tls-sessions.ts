import type { TLSSocket } from 'node:tls';
import { NewestMap } from '../newest-map.js';

export interface TlsSession {
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
export class TlsSessions {
  private readonly sessions = new NewestMap<string, TlsSession>(MAX_SESSIONS);

  constructor(private readonly monotonicMs: () => number) {}

  find(peer: string): TlsSession | undefined {
    const known = this.sessions.get(peer);
    if (known === undefined || this.monotonicMs() - known.verifiedAtMs < MAX_SESSION_AGE_MS) return known;
    this.sessions.delete(peer);
    return undefined;
  }

  learn(peer: string, socket: TLSSocket, used: TlsSession | undefined): void {
    let newest = used;
    // Emitted only after the handshake was verified.
    socket.on('session', (session: Buffer) => {
      if (!socket.authorized || socket.destroyed) return;
      const verifiedAtMs = used !== undefined && socket.isSessionReused() ? used.verifiedAtMs : this.monotonicMs();
      newest = { session, verifiedAtMs };
      this.sessions.set(peer, newest);
    });
    if (used === undefined) return;
    // The session may be what the server fails on, or does not respond to; what another connection got since is not.
    socket.once('error', () => {
      if (this.sessions.get(peer) === newest) this.sessions.delete(peer);
    });
  }
}
