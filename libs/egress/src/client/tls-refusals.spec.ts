import { EventEmitter } from 'node:events';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Certificate, makeAuthority, makeSelfSigned } from '../../../../test/support/certificates.js';
import { clientIdentityOf } from '../certificate/client-certificate.js';
import { closedAfterEach, lookupAnswering } from '../testing/opened.js';
import type { Answer } from '../testing/raw-server.js';
import { passOn, type Relay, startRelay } from '../testing/relay.js';
import type { EgressClientOptions } from './egress-client.js';
import { TlsRefusedError } from './tls-limits.js';
import { TlsRefusals } from './tls-refusals.js';

const CLOSED: Answer = (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
const DEADLINE_MS = 15_000;

const authority = makeAuthority();
const good = authority.issue({ subjectAltName: 'DNS:hooks.example' });
const untrusted = makeSelfSigned('DNS:hooks.example');

const { openClient, serve } = closedAfterEach();
const relays: Relay[] = [];
afterEach(() => Promise.all(relays.splice(0).map((relay) => relay.stop())));

/** Lets this many bytes of a server through to the client, and does not close. */
interface Cut {
  readonly afterBytes: number;
  readonly hangsUp: boolean;
}

/** A server with a certificate that may be changed, a client, and a count of their handshakes. */
async function build(first: Certificate, { cut, ...options }: Partial<EgressClientOptions> & { cut?: Cut } = {}) {
  let certificate = first;
  let passedMs = 0;
  const { port } = await serve(CLOSED, {
    SNICallback: (_name, done) => {
      done(null, createSecureContext(certificate));
    },
  });
  const relay = await startRelay((client, hello) => {
    const server = passOn(client, hello, port);
    if (cut === undefined) return;
    server.unpipe(client).on('data', (bytes: Buffer) => {
      client.write(bytes.subarray(0, Math.max(0, cut.afterBytes - client.bytesWritten)));
      if (cut.hangsUp && client.bytesWritten >= cut.afterBytes) client.end();
    });
    server.resume();
  });
  relays.push(relay);
  const lookup = lookupAnswering(['127.0.0.1']);
  const client = openClient({ lookup, trustedCa: authority.cert, monotonicMs: () => passedMs, ...options });
  const url = `https://hooks.example:${String(relay.port)}/`;
  return {
    handshakes: relay.connections,
    lookups: lookup.asked,
    post: (identity?: ReturnType<typeof clientIdentityOf>) =>
      client.post({ url, headers: {}, body: '{}', identity, deadlineMs: DEADLINE_MS }),
    passMs: (ms: number) => {
      passedMs += ms;
    },
    show: (next: Certificate) => {
      certificate = next;
    },
  };
}

describe('a server whose certificate was refused', () => {
  it('is not looked up and costs no handshake for 1 s, then for twice as long each time, up to a minute (R-26)', async () => {
    const { post, handshakes, lookups, passMs } = await build(untrusted);
    expect(await post()).toMatchObject({ errorCode: 'tls_error', detail: 'self-signed certificate' });

    let expected = 1;
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      passMs(seconds * 1_000 - 1);
      const detail = 'self-signed certificate (remembered, tried again in 1 s)';
      expect(await post()).toMatchObject({ errorCode: 'tls_error', detail });
      expect([handshakes(), lookups.length]).toEqual([expected, expected]);

      passMs(1);
      expect(await post()).toMatchObject({ errorCode: 'tls_error', detail: 'self-signed certificate' });
      expected += 1;
      expect(handshakes()).toBe(expected);
    }
  });

  it('is tried as soon as before once a handshake has succeeded', async () => {
    const { post, handshakes, passMs, show } = await build(untrusted);
    await post();
    passMs(1_000);
    await post();
    passMs(2_000);
    show(good);
    expect(await post()).toMatchObject({ statusCode: 200 });

    show(makeSelfSigned('DNS:hooks.example'));
    // A resumed session needs no certificate.
    passMs(600_000);
    await post();
    passMs(1_000);
    await post();
    expect(handshakes()).toBe(5);
  });

  it('is tried with another client certificate, for which it may show another one', async () => {
    const { post, handshakes } = await build(untrusted);
    await post();
    await post(clientIdentityOf({ certificates: good.cert, privateKey: good.key }));
    expect(handshakes()).toBe(2);
  });

  it('keeps no request from another port of that host, where another server may be', async () => {
    const [refused, other] = [await serve(CLOSED, untrusted), await serve(CLOSED, good)];
    const client = openClient({ lookup: lookupAnswering(['127.0.0.1']), trustedCa: authority.cert });
    const post = (port: number) =>
      client.post({
        url: `https://hooks.example:${String(port)}/`,
        headers: {},
        body: '{}',
        deadlineMs: DEADLINE_MS,
      });

    expect(await post(refused.port)).toMatchObject({ errorCode: 'tls_error' });
    expect(await post(other.port)).toMatchObject({ statusCode: 200 });
  });

  it('counts once when several connections were made together', async () => {
    const { post, handshakes, passMs } = await build(untrusted);
    await Promise.all([post(), post(), post(), post()]);
    const together = handshakes();
    passMs(1_000);
    await post();
    expect(handshakes()).toBe(together + 1);
  });
});

describe('a server that fails in its handshake', () => {
  const long = authority.issue({ subjectAltName: Array.from({ length: 400 }, () => `DNS:${'x'.repeat(60)}`).join() });

  it.each([
    ['hangs up', true],
    ['stalls', false],
  ])(
    'is left alone for a minute when it %s after more than 16 KiB, which are costly (R-26)',
    async (_case, hangsUp) => {
      const cut = { afterBytes: 20_000, hangsUp };
      const { post, handshakes, passMs } = await build(long, { cut, connectTimeoutMs: hangsUp ? DEADLINE_MS : 2_000 });
      expect(await post()).toMatchObject({ errorCode: hangsUp ? 'connection_reset' : 'timeout' });
      passMs(59_999);
      expect(await post()).toMatchObject({ errorCode: 'tls_error' });
      expect(handshakes()).toBe(1);

      passMs(1);
      await post();
      expect(handshakes()).toBe(2);
    },
  );

  it('is tried with every attempt when it hangs up earlier', async () => {
    const { post, handshakes } = await build(long, { cut: { afterBytes: 4_000, hangsUp: true } });
    await post();
    expect(await post()).toMatchObject({ errorCode: 'connection_reset' });
    expect(handshakes()).toBe(2);
  });
});

/** A connection that ends in the way that the test chooses. */
class Refused extends EventEmitter {
  readonly authorized = false;
  readonly authorizationError = 'CERT_HAS_EXPIRED';
}

describe('the memory of refused servers', () => {
  function build() {
    let passedMs = 0;
    const refusals = new TlsRefusals(() => passedMs);
    return {
      begin: (): Refused => {
        const socket = new Refused();
        refusals.learn('server', socket as unknown as TLSSocket);
        return socket;
      },
      isRemembered: () => refusals.find('server') !== undefined,
      passMs: (ms: number) => {
        passedMs += ms;
      },
    };
  }
  const cheap = new Error('certificate has expired');
  const costly = new TlsRefusedError('the TLS handshake of the server is too long');

  it('keeps a costly one for its minute, whatever else becomes of connections made together with it (R-26)', () => {
    const { begin, isRemembered, passMs } = build();
    const [first, second, third, fourth] = [begin(), begin(), begin(), begin()];
    first.emit('error', cheap);
    second.emit('error', costly);
    third.emit('secureConnect');
    fourth.emit('error', cheap);
    passMs(59_999);
    expect(isRemembered()).toBe(true);
    passMs(1);
    expect(isRemembered()).toBe(false);
  });

  it('begins with a second again when a handshake has succeeded after the minute of a costly one', () => {
    const { begin, isRemembered, passMs } = build();
    begin().emit('error', costly);
    passMs(60_000);
    begin().emit('secureConnect');
    begin().emit('error', cheap);
    passMs(999);
    expect(isRemembered()).toBe(true);
    passMs(1);
    expect(isRemembered()).toBe(false);
  });

  it('keeps at most 4,096, the newest', () => {
    const refusals = new TlsRefusals(() => 0);
    const error = new Error('certificate has expired');
    const peers = Array.from({ length: 4_097 }, (_, index) => `${String(index)}.example:443 `);
    for (const peer of peers) {
      const socket = new Refused();
      refusals.learn(peer, socket as unknown as TLSSocket);
      socket.emit('error', error);
    }
    expect(refusals.find(peers[0] ?? '')).toBeUndefined();
    expect(refusals.find(peers[4_096] ?? '')).toBeDefined();
  });
});
