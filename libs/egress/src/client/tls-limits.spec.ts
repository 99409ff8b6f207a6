import { EventEmitter } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { makeAuthority, type TestAuthority } from '../../../../test/support/certificates.js';
import { until } from '../../../../test/support/until.js';
import { closedAfterEach } from '../testing/opened.js';
import { type Answer, flood, startConnectionServer } from '../testing/raw-server.js';
import { type Speaker, type SpeakingServer, startSpeakingServer } from '../testing/tls13-records.js';
import { TlsLimits } from './tls-limits.js';

const RESPONSE = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const OK: Answer = (socket) => socket.write(RESPONSE);
/** 70 KB. */
const MANY_UPDATES = 2_600;
/** 10.8 KB. */
const SOME_UPDATES = 400;
const DETAIL = 'the server sends too much besides its responses';
const REFUSED = { errorCode: 'tls_error', detail: DETAIL };
const REMEMBERED = { errorCode: 'tls_error', detail: `${DETAIL} (remembered, tried again in 60 s)` };

const authority = makeAuthority();
const certificate = authority.issue({ subjectAltName: 'IP:127.0.0.1' });

const { build, keep, serve } = closedAfterEach();
const servers: SpeakingServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

/** A server of TLS 1.3, and a client whose clock stands still. */
async function speaking(answer: (speaker: Speaker, requestNumber: number) => void) {
  const server = await startSpeakingServer(certificate, answer);
  servers.push(server);
  const post = build({ trustedCa: authority.cert, monotonicMs: () => 0 });
  const url = `https://127.0.0.1:${String(server.port)}/`;
  return { server, post: () => post(url, { deadlineMs: 15_000 }) };
}

describe('what a server sends besides its responses (R-26)', () => {
  it('ends a connection that waits for a response', async () => {
    const { post } = await speaking((speaker) => {
      speaker.updateKeys(MANY_UPDATES);
    });
    expect(await post()).toMatchObject(REFUSED);
  });

  it('ends an idle connection, and none is opened for a while', async () => {
    const { server, post } = await speaking((speaker) => {
      speaker.say(RESPONSE);
      setTimeout(() => {
        speaker.updateKeys(MANY_UPDATES);
      }, 100);
    });
    expect(await post()).toMatchObject({ statusCode: 200 });
    await until(() => server.connections.every((socket) => socket.closed));

    expect(await post()).toMatchObject(REMEMBERED);
    expect(server.connections).toHaveLength(1);
  });

  it('ends a connection with its response, which counts', async () => {
    const { server, post } = await speaking((speaker) => {
      speaker.updateKeys(MANY_UPDATES - SOME_UPDATES);
      // What exceeds the limit is read together with the response, so that no sweep comes between them.
      setTimeout(() => {
        speaker.updateKeys(SOME_UPDATES);
        speaker.say(RESPONSE);
      }, 50);
    });
    expect(await post()).toMatchObject({ statusCode: 200 });
    expect(await post()).toMatchObject(REMEMBERED);
    expect(server.connections).toHaveLength(1);
  });

  it('does not add up from response to response', async () => {
    const { server, post } = await speaking((speaker) => {
      speaker.updateKeys(SOME_UPDATES);
      speaker.say(RESPONSE);
    });
    for (let count = 0; count < 8; count += 1) expect(await post()).toMatchObject({ statusCode: 200 });
    expect(server.connections).toHaveLength(1);
  });
});

/** A certificate whose chain has this many more. */
function chained(others: number, leaf: Parameters<TestAuthority['issue']>[0]) {
  const authorities = [authority];
  for (let count = 0; count < others; count += 1) authorities.unshift((authorities[0] ?? authority).intermediate());
  const { key, cert } = (authorities[0] ?? authority).issue(leaf);
  return { key, cert: [cert, ...authorities.map((one) => one.cert)].join('\n') };
}

/** As many names as need this many bytes. */
function names(bytes: number): string {
  const one = `DNS:${'x'.repeat(60)}.example`;
  return ['IP:127.0.0.1', ...Array.from({ length: Math.ceil(bytes / one.length) }, () => one)].join(',');
}

/** A connection that has received nothing, and notices when that is looked at. */
class Handshaking extends EventEmitter {
  looks = 0;

  get _handle(): object {
    this.looks += 1;
    return { _parent: { bytesRead: 0 } };
  }
}

describe('a TLS handshake', () => {
  it('is watched until it is over, and not when the connection has closed', () => {
    const limits = new TlsLimits();
    const [closed, done, open] = [new Handshaking(), new Handshaking(), new Handshaking()];
    for (const socket of [closed, done, open]) limits.watch(socket as unknown as TLSSocket);
    closed.emit('close');
    done.emit('secureConnect');
    const before = done.looks;

    for (let sweeps = 0; sweeps < 3; sweeps += 1) limits.sweep();

    expect([closed.looks, done.looks - before, open.looks]).toEqual([0, 0, 3]);
  });

  it.each([
    ['four certificates', chained(3, { subjectAltName: 'IP:127.0.0.1' })],
    ['a certificate of 40 KiB', authority.issue({ subjectAltName: names(40_000) })],
  ])('may have %s', async (_case, pair) => {
    const { url } = await serve(OK, pair);
    const post = build({ trustedCa: authority.cert });
    expect(await post(url, { deadlineMs: 15_000 })).toMatchObject({ statusCode: 200 });
  });

  it('of more than 48 KiB is refused, as the chain stays in memory with the connection (R-26)', async () => {
    const server = await serve(OK, authority.issue({ subjectAltName: names(55_000) }));
    const post = build({ trustedCa: authority.cert });

    const detail = 'the TLS handshake of the server is too long';
    expect(await post(server.url, { deadlineMs: 15_000 })).toMatchObject({ errorCode: 'tls_error', detail });
    expect(server.requests).toHaveLength(0);
  });

  it('that only begins again and again is ended long before the deadline', async () => {
    const helloRequest = '\u0016\u0003\u0003\u0000\u0004\u0000\u0000\u0000\u0000';
    const server = keep(
      await startConnectionServer((socket) => {
        flood(socket.resume(), helloRequest);
      }),
    );
    const post = build({ connectTimeoutMs: 30_000 });

    const detail = 'the TLS handshake of the server is too long';
    const url = `https://127.0.0.1:${String(server.port)}/`;
    expect(await post(url, { deadlineMs: 30_000 })).toMatchObject({ errorCode: 'tls_error', detail });
  });
});
