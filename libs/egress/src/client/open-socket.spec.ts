import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TlsOptions, TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type LeafOptions, makeAuthority, makeSelfSigned } from '../../../../test/support/certificates.js';
import { until } from '../../../../test/support/until.js';
import type { Lookup } from '../address/dns-lookup.js';
import { clientIdentityOf } from '../certificate/client-certificate.js';
import { closedAfterEach } from '../testing/opened.js';
import { type Answer, startRawServer } from '../testing/raw-server.js';
import { createSocketOpener } from './open-socket.js';

const CLOSED: Answer = (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
const toLoopback: Lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);

const authority = makeAuthority();
const stranger = makeAuthority();
const valid = authority.issue({ subjectAltName: 'DNS:hooks.example,IP:127.0.0.1' });

const { keep, openClient } = closedAfterEach();
const processes: ChildProcess[] = [];
const directories: string[] = [];
afterEach(() => {
  for (const process of processes.splice(0)) process.kill();
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

async function build(
  tls: TlsOptions,
  {
    trust = [authority.cert],
    answer = CLOSED,
    monotonicMs,
  }: { trust?: string[]; answer?: Answer; monotonicMs?: () => number } = {},
) {
  const server = keep(await startRawServer(answer, tls));
  const client = openClient({
    allowHttp: false,
    lookup: toLoopback,
    ...(monotonicMs === undefined ? {} : { monotonicMs }),
    ...(trust.length === 0 ? {} : { trustedCa: trust.join('\n') }),
  });
  const post = (host: string) =>
    client.post({ url: `https://${host}:${String(server.port)}/`, headers: {}, body: '{}', deadlineMs: 3_000 });
  return { server, client, post };
}

describe('TLS', () => {
  it('accepts a trusted certificate with the name of the URL', async () => {
    const { post } = await build(valid);

    expect(await post('hooks.example')).toMatchObject({ type: 'response', statusCode: 200 });
    expect(await post('HOOKS.example')).toMatchObject({ type: 'response', statusCode: 200 });
    expect(await post('127.0.0.1')).toMatchObject({ type: 'response', statusCode: 200 });
  });

  it('carries long requests and responses, one after the other on one connection', async () => {
    const long = 'y'.repeat(50_000);
    const { client, server } = await build(valid, {
      answer: (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n${long}`),
    });
    const url = `https://hooks.example:${String(server.port)}/`;

    for (const body of ['x'.repeat(200_000), '{}']) {
      const result = await client.post({ url, headers: {}, body, deadlineMs: 3_000, maxResponseBytes: 60_000 });
      expect(result).toMatchObject({ statusCode: 200, body: Buffer.from(long), truncated: false });
      expect(server.requests.at(-1)?.endsWith(`\r\n\r\n${body}`)).toBe(true);
    }
    expect(server.connections).toHaveLength(1);
  });

  it.each<[string, LeafOptions, string]>([
    ['for another name', { subjectAltName: 'DNS:other.example' }, 'hooks.example'],
    ['for the name below', { subjectAltName: 'DNS:a.hooks.example' }, 'hooks.example'],
    ['for the names below', { subjectAltName: 'DNS:*.hooks.example' }, 'hooks.example'],
    ['for the address only', { subjectAltName: 'IP:127.0.0.1' }, 'hooks.example'],
    ['for the name only', { subjectAltName: 'DNS:hooks.example' }, '127.0.0.1'],
    ['that has expired', { subjectAltName: 'DNS:hooks.example', validDays: -1 }, 'hooks.example'],
  ])('refuses a certificate %s, and sends nothing', async (_case, leaf, host) => {
    const { post, server } = await build(authority.issue(leaf));

    expect(await post(host)).toMatchObject({ type: 'error', errorCode: 'tls_error' });
    expect(server.requests).toHaveLength(0);
  });

  it('refuses a certificate of an untrusted authority, and a self-signed one', async () => {
    const other = await build(stranger.issue({ subjectAltName: 'DNS:hooks.example' }));
    const selfSigned = await build(makeSelfSigned('DNS:hooks.example'));
    const noAuthority = await build(valid, { trust: [] });

    for (const { post, server } of [other, selfSigned, noAuthority]) {
      expect(await post('hooks.example')).toMatchObject({ type: 'error', errorCode: 'tls_error' });
      expect(server.requests).toHaveLength(0);
    }
  });

  it('reports the reason in plain words', async () => {
    const { post } = await build(authority.issue({ subjectAltName: 'DNS:hooks.example', validDays: -1 }));

    expect(await post('hooks.example')).toMatchObject({ detail: 'certificate has expired' });
  });

  it('reports a weak key as a TLS failure, though Node has no name for it', async () => {
    const weak = authority.issue({ subjectAltName: 'DNS:hooks.example', newKey: ['-newkey', 'rsa:768'] });
    const { post, server } = await build({ ...weak, ciphers: 'DEFAULT@SECLEVEL=0' });

    const refused = { type: 'error', errorCode: 'tls_error', detail: 'EE certificate key too weak' };
    expect(await post('hooks.example')).toMatchObject(refused);
    expect(server.requests).toHaveLength(0);
  });

  it('refuses versions before TLS 1.2', async () => {
    const { post, server } = await build({
      ...valid,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });

    expect(await post('hooks.example')).toMatchObject({ type: 'error', errorCode: 'tls_error' });
    expect(server.requests).toHaveLength(0);
  });

  it('makes one full handshake per host and ten minutes, and resumes its session after that', async () => {
    let passedMs = 0;
    const resumed: boolean[] = [];
    const recording: Answer = (socket, number) => {
      if (socket instanceof TLSSocket) resumed.push(socket.isSessionReused());
      CLOSED(socket, number);
    };
    const both = authority.issue({ subjectAltName: 'DNS:hooks.example,DNS:other.example' });
    const { post } = await build(both, { answer: recording, monotonicMs: () => passedMs });

    for (const host of ['hooks.example', 'hooks.example', 'hooks.example', 'other.example', 'hooks.example']) {
      expect(await post(host)).toMatchObject({ statusCode: 200 });
    }
    expect(resumed).toEqual([false, true, true, false, true]);

    // The age counts from the full handshake, also for the sessions that the server issued since.
    for (const ms of [599_000, 600_000, 600_001]) {
      passedMs = ms;
      await post('hooks.example');
    }
    expect(resumed.slice(5)).toEqual([true, false, true]);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('resumes sessions of %s', async (version) => {
    const resumed: boolean[] = [];
    const recording: Answer = (socket, number) => {
      if (socket instanceof TLSSocket) resumed.push(socket.isSessionReused());
      CLOSED(socket, number);
    };
    const { post } = await build({ ...valid, minVersion: version, maxVersion: version }, { answer: recording });

    for (let count = 0; count < 3; count += 1) await post('hooks.example');

    expect(resumed).toEqual([false, true, true]);
  });

  it('does not resume with another server: it is verified in full', async () => {
    let passedMs = 0;
    const { post, server } = await build(valid, { monotonicMs: () => passedMs });
    expect(await post('hooks.example')).toMatchObject({ statusCode: 200 });
    await server.stop();

    for (const leaf of [stranger.issue({ subjectAltName: 'DNS:hooks.example' }), makeSelfSigned('DNS:hooks.example')]) {
      const other = keep(await startRawServer(CLOSED, leaf, { port: server.port }));
      const detail = expect.stringMatching(/certificate(?!.*remembered)/);
      expect(await post('hooks.example')).toMatchObject({ type: 'error', errorCode: 'tls_error', detail });
      expect(other.requests).toHaveLength(0);
      await other.stop();
      // A refusal is remembered for that long.
      passedMs += 1_000;
    }
  });

  it('asks for HTTP/1.1 only, so that a server that prefers HTTP/2 does not speak it', async () => {
    const protocols: unknown[] = [];
    const recording: Answer = (socket, number) => {
      if (socket instanceof TLSSocket) protocols.push(socket.alpnProtocol);
      CLOSED(socket, number);
    };
    const { post } = await build({ ...valid, ALPNProtocols: ['h2', 'http/1.1'] }, { answer: recording });

    expect(await post('hooks.example')).toMatchObject({ type: 'response', statusCode: 200 });
    expect(protocols).toEqual(['http/1.1']);
  });

  it('sends the host name in SNI, but never an address', async () => {
    const names: string[] = [];
    const { post } = await build({
      ...valid,
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    });

    await post('hooks.example.');
    await post('127.0.0.1');

    expect(names).toEqual(['hooks.example']);
  });
});

/** Sends this many session tickets right after the handshake, and answers with what it received, backwards. */
async function startTicketServer(tickets: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'waypost-tickets-'));
  directories.push(directory);
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  writeFileSync(key, valid.key);
  writeFileSync(cert, valid.cert);
  const behavior = ['-tls1_3', '-num_tickets', String(tickets), '-rev'];
  const server = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', '-key', key, '-cert', cert, ...behavior]);
  processes.push(server);
  let printed = '';
  server.stdout.setEncoding('latin1').on('data', (text: string) => {
    printed += text;
  });
  await until(() => /^ACCEPT \S+:\d+$/m.test(printed));
  return Number(/^ACCEPT \S+:(\d+)$/m.exec(printed)?.[1]);
}

describe('what a server sends after the handshake (R-26)', () => {
  it.each<[number, object]>([
    [16, { errorCode: 'protocol_error', detail: 'the answer is not HTTP/1.1' }],
    [17, { errorCode: 'tls_error', detail: 'the server sends too many TLS sessions' }],
  ])('is not followed beyond sixteen session tickets: of %d', async (tickets, expected) => {
    const port = await startTicketServer(tickets);
    const client = openClient({ trustedCa: authority.cert });

    const url = `https://127.0.0.1:${String(port)}/`;
    expect(await client.post({ url, headers: {}, body: '{}', deadlineMs: 3_000 })).toMatchObject(expected);
  });

  it.each<[number, object]>([
    [2, { statusCode: 200 }],
    [3, { errorCode: 'tls_error', detail: 'the server begins TLS again too often' }],
  ])('is not followed beyond three handshakes: %d more', async (times, expected) => {
    const begun = (socket: TLSSocket) =>
      new Promise((resolve) => socket.renegotiate({ requestCert: false, rejectUnauthorized: false }, resolve));
    const again: Answer = (socket, number) => {
      void (async () => {
        for (let count = 0; count < times && socket instanceof TLSSocket; count += 1) await begun(socket);
        CLOSED(socket, number);
      })();
    };
    const { post } = await build({ ...valid, maxVersion: 'TLSv1.2' }, { answer: again });

    expect(await post('hooks.example')).toMatchObject(expected);
  });
});

describe('a TLS session', () => {
  const sockets: TLSSocket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** Connects once, by an opener that trusts the server. */
  function connecting(port: number, monotonicMs: () => number = () => 0) {
    const opener = createSocketOpener({ trustedCa: authority.cert, monotonicMs });
    const target = { protocol: 'https:', hostname: '127.0.0.1', port: String(port) };
    return async (): Promise<TLSSocket> => {
      const socket = opener.direct(target, [{ address: '127.0.0.1', family: 4 }]) as TLSSocket;
      sockets.push(socket.on('error', () => undefined));
      await once(socket, 'secureConnect');
      return socket;
    };
  }

  it('that the server renews is as old as the full handshake before it, so an expired certificate is noticed', async () => {
    let passedMs = 0;
    const connect = connecting(await startTicketServer(1), () => passedMs);
    const resumed: boolean[] = [];
    for (const ms of [0, 300_000, 599_000, 600_000]) {
      passedMs = ms;
      const socket = await connect();
      await once(socket, 'session');
      resumed.push(socket.isSessionReused());
      socket.destroy();
    }
    expect(resumed).toEqual([false, true, true, false]);
  });

  it('is not tried again after a failure, which it may have caused', async () => {
    const { port } = keep(await startRawServer(CLOSED, valid));
    const connect = connecting(port);
    const resumed: boolean[] = [];
    for (const failure of [undefined, new Error('the server cannot go on'), undefined]) {
      const socket = await connect();
      resumed.push(socket.isSessionReused());
      if (resumed.length === 1) await once(socket, 'session');
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.destroy(failure);
      await closed;
    }
    expect(resumed).toEqual([false, true, false]);
  });
});

describe('a client certificate (R-19)', () => {
  const ofClients = makeAuthority();
  const [first, second] = ['first', 'second'].map((commonName) => {
    const { cert, key } = ofClients.issue({ subjectAltName: `DNS:${commonName}.example`, commonName });
    return clientIdentityOf({ certificates: cert, privateKey: key });
  });

  /** A server that demands a certificate, and tells for each request whose it was and how its handshake went. */
  async function demanding({ answer = CLOSED, version }: { answer?: Answer; version?: 'TLSv1.2' | 'TLSv1.3' } = {}) {
    const seen: string[] = [];
    const recording: Answer = (socket, number) => {
      if (socket instanceof TLSSocket) {
        seen.push(`${String(socket.getPeerCertificate().subject.CN)}${socket.isSessionReused() ? ', resumed' : ''}`);
      }
      answer(socket, number);
    };
    const demand = { requestCert: true, rejectUnauthorized: true, ca: ofClients.cert };
    const versions = version === undefined ? {} : { minVersion: version, maxVersion: version };
    const { server, client } = await build({ ...valid, ...demand, ...versions }, { answer: recording });
    const url = `https://hooks.example:${String(server.port)}/`;
    const post = (identity?: typeof first) =>
      client.post({ url, headers: {}, body: '{}', identity, deadlineMs: 3_000 });
    return { server, post, seen };
  }

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('is shown to a server that demands it (%s)', async (version) => {
    const { post, seen } = await demanding({ version });
    expect(await post(first)).toMatchObject({ type: 'response', statusCode: 200 });
    expect(seen).toEqual(['first']);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'that is missing or refused is a failure without a status (%s)',
    async (version) => {
      const { post, server } = await demanding({ version });
      const { cert, key } = stranger.issue({ subjectAltName: 'DNS:first.example' });
      expect(await post()).toMatchObject({ type: 'error', errorCode: 'tls_error' });
      // Node's server hangs up without an alert.
      const refused = await post(clientIdentityOf({ certificates: cert, privateKey: key }));
      expect(refused).toMatchObject({ type: 'error', errorCode: 'connection_reset' });
      expect(server.requests).toHaveLength(0);
    },
  );

  it('never shares a TLS session with another certificate or with none', async () => {
    const { post, seen } = await demanding();
    for (const identity of [first, first, second, second, first]) await post(identity);
    expect(seen).toEqual(['first', 'first, resumed', 'second', 'second, resumed', 'first, resumed']);
    expect(await post()).toMatchObject({ errorCode: 'tls_error' });
  });

  it('never shares a kept connection with another certificate or with none', async () => {
    const keeping: Answer = (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    const { post, seen, server } = await demanding({ answer: keeping });
    for (const identity of [first, second, first, second]) {
      expect(await post(identity)).toMatchObject({ statusCode: 200 });
    }
    expect(seen).toEqual(['first', 'second', 'first', 'second']);
    expect(server.connections).toHaveLength(2);
    expect(await post()).toMatchObject({ errorCode: 'tls_error' });
  });

  it('that OpenSSL does not take is a TLS failure, and no connection is made', async () => {
    const { post, server } = await demanding();
    const broken = clientIdentityOf({ certificates: 'none', privateKey: first?.privateKey ?? '' });
    expect(await post(broken)).toMatchObject({ type: 'error', errorCode: 'tls_error' });
    expect(server.connections).toHaveLength(0);
  });
});
