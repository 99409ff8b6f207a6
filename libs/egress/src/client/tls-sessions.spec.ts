import { EventEmitter } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { makeAuthority } from '../../../../test/support/certificates.js';
import { closedAfterEach } from '../testing/opened.js';
import type { Answer } from '../testing/raw-server.js';
import { offersSession, passOn, type Relay, startRelay } from '../testing/relay.js';
import { TlsSessions } from './tls-sessions.js';

const CLOSED: Answer = (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
const authority = makeAuthority();
const certificate = authority.issue({ subjectAltName: 'IP:127.0.0.1' });

const { build, serve } = closedAfterEach();
const relays: Relay[] = [];
afterEach(() => Promise.all(relays.splice(0).map((relay) => relay.stop())));

/** A server behind something that lets no connection through that resumes a session. */
async function withoutResumption() {
  const { port } = await serve(CLOSED, certificate);
  const resumed: boolean[] = [];
  const relay = await startRelay((client, hello) => {
    resumed.push(offersSession(hello));
    if (offersSession(hello)) client.resume();
    else passOn(client, hello, port);
  });
  relays.push(relay);
  return { url: `https://127.0.0.1:${String(relay.port)}/`, resumed };
}

/** A connection as far as sessions are concerned. */
class Handshake extends EventEmitter {
  authorized = false;
  destroyed = false;

  isSessionReused(): boolean {
    return false;
  }

  complete(session: string): void {
    this.authorized = true;
    this.emit('session', Buffer.from(session));
  }

  fail(): void {
    this.destroyed = true;
    this.emit('error', new Error('the server cannot go on'));
    this.emit('close');
  }
}

/** Connections to one server, and the session that the next one would resume. */
function connections() {
  const sessions = new TlsSessions(() => 0);
  return {
    begin(): Handshake {
      const handshake = new Handshake();
      sessions.learn('server', handshake as unknown as TLSSocket, sessions.find('server'));
      return handshake;
    },
    next: () => sessions.find('server')?.session.toString(),
  };
}

describe('a TLS session', () => {
  it('that the server does not respond to costs one attempt: the next one begins without it (R-26)', async () => {
    const { url, resumed } = await withoutResumption();
    const post = build({ trustedCa: authority.cert, connectTimeoutMs: 1_000 });

    expect(await post(url, { deadlineMs: 10_000 })).toMatchObject({ statusCode: 200 });
    expect(await post(url, { deadlineMs: 10_000 })).toMatchObject({ errorCode: 'timeout' });
    expect(await post(url, { deadlineMs: 10_000 })).toMatchObject({ statusCode: 200 });

    expect(resumed).toEqual([false, true, false]);
  });

  it('is resumed no more when a connection fails that used it, or that got it when it used the one before', () => {
    for (const sessions of [['first'], ['first', 'second']]) {
      const { begin, next } = connections();
      begin().complete('first');
      const resumed = begin();
      for (const session of sessions.slice(1)) resumed.complete(session);
      expect(next()).toBe(sessions.at(-1));

      resumed.fail();

      expect(next()).toBeUndefined();
    }
  });

  it('stays when a connection fails that used an older one', () => {
    const { begin, next } = connections();
    begin().complete('first');
    const [failing, other] = [begin(), begin()];
    other.complete('second');

    failing.fail();

    expect(next()).toBe('second');
  });
});
