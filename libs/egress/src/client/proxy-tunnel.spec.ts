import { afterEach, describe, expect, it } from '@jest/globals';
import { makeAuthority } from '../../../../test/support/certificates.js';
import { settlesWithin, until } from '../../../../test/support/until.js';
import type { Lookup } from '../address/dns-lookup.js';
import {
  type ConnectProxy,
  type ProxyBehavior,
  startConnectProxy,
  tunnelToLoopback,
} from '../testing/connect-proxy.js';
import { closedAfterEach } from '../testing/opened.js';
import { type Answer, startRawServer } from '../testing/raw-server.js';
import type { EgressClientOptions } from './egress-client.js';

const OK: Answer = (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
// Public, so that R-27 passes them; only the proxy of the test knows where they lead.
const toPublic: Lookup = () => Promise.resolve([{ address: '93.184.215.14', family: 4 }]);
const toBothFamilies: Lookup = () =>
  Promise.resolve([
    { address: '2606:2800:21f::1', family: 6 },
    { address: '93.184.215.14', family: 4 },
  ]);

const authority = makeAuthority();
const certificate = authority.issue({ subjectAltName: 'DNS:hooks.example' });
const proxies: ConnectProxy[] = [];
afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});
const { keep, openClient } = closedAfterEach();

interface Setup extends Partial<EgressClientOptions> {
  readonly behave?: ProxyBehavior;
  readonly credentials?: string;
  readonly answer?: Answer;
  readonly secure?: boolean;
}

async function build({ behave, credentials = '', answer = OK, secure = true, ...options }: Setup = {}) {
  const proxy = await startConnectProxy(behave);
  proxies.push(proxy);
  const server = keep(await startRawServer(answer, secure ? certificate : undefined));
  const proxyUrl = `http://${credentials}127.0.0.1:${String(proxy.port)}`;
  const client = openClient({ allowedSubnets: [], lookup: toPublic, trustedCa: authority.cert, proxyUrl, ...options });
  const url = (host: string) => `${secure ? 'https' : 'http'}://${host}:${String(server.port)}/hook`;
  const post = (host = 'hooks.example', deadlineMs = 3_000, body = '{}') =>
    client.post({ url: url(host), headers: {}, body, deadlineMs, maxResponseBytes: 60_000 });
  return { proxy, server, post };
}

function refusing(status: string): ProxyBehavior {
  return (socket) => socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 4\r\n\r\nsorr`);
}

describe('a proxy', () => {
  it.each([true, false])('carries requests by CONNECT to the checked address, https: %p (R-27)', async (secure) => {
    const { proxy, server, post } = await build({ secure });

    expect(await post()).toMatchObject({ type: 'response', statusCode: 200, body: Buffer.from('ok') });

    const authorityOfTarget = `93.184.215.14:${String(server.port)}`;
    expect(proxy.requests).toEqual([`CONNECT ${authorityOfTarget} HTTP/1.1\r\nHost: ${authorityOfTarget}\r\n\r\n`]);
    expect(server.requests[0]).toContain(`\r\nhost: hooks.example:${String(server.port)}\r\n`);
  });

  it.each([true, false])('carries long bodies both ways, one tunnel for all of them, https: %p', async (secure) => {
    const long = 'y'.repeat(50_000);
    const answer: Answer = (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n${long}`);
    const { proxy, server, post } = await build({ secure, answer });

    for (const body of ['x'.repeat(100_000), '{}']) {
      expect(await post('hooks.example', 3_000, body)).toMatchObject({ body: Buffer.from(long), truncated: false });
      expect(server.requests.at(-1)?.endsWith(`\r\n\r\n${body}`)).toBe(true);
    }
    expect(proxy.requests).toHaveLength(1);
  });

  it.each([
    ['https://hooks.example/', 443],
    ['http://hooks.example/', 80],
  ])('is asked for the usual port when %s names none', async (url, port) => {
    const proxy = await startConnectProxy(refusing('502 Bad Gateway'));
    proxies.push(proxy);
    const proxyUrl = `http://127.0.0.1:${String(proxy.port)}`;

    await openClient({ lookup: toPublic, proxyUrl }).post({ url, headers: {}, body: '{}', deadlineMs: 3_000 });

    expect(proxy.requests).toEqual([expect.stringContaining(`CONNECT 93.184.215.14:${String(port)} HTTP/1.1\r\n`)]);
  });

  it('gets its credentials, decoded', async () => {
    const { proxy, post } = await build({ credentials: 'way%40post:p%3Aass@' });

    expect(await post()).toMatchObject({ statusCode: 200 });
    const expected = Buffer.from('way@post:p:ass').toString('base64');
    expect(proxy.requests[0]).toContain(`\r\nProxy-Authorization: Basic ${expected}\r\n`);
  });

  it('does not weaken TLS: the certificate must be for the name of the URL', async () => {
    const { server, post } = await build();

    expect(await post('other.example')).toMatchObject({ type: 'error', errorCode: 'tls_error' });
    expect(server.requests).toHaveLength(0);
  });

  it.each(['127.0.0.1', '10.0.0.7', '169.254.169.254'])(
    'is not asked for a name that leads to %s (R-27)',
    async (address) => {
      const { proxy, post } = await build({ lookup: () => Promise.resolve([{ address, family: 4 }]) });

      expect(await post()).toMatchObject({ type: 'error', errorCode: 'address_refused' });
      expect(proxy.requests).toHaveLength(0);
    },
  );

  it('is asked for the next address if it cannot reach one', async () => {
    const behave: ProxyBehavior = (socket, port, requestNumber) => {
      if (requestNumber === 1) refusing('502 Bad Gateway')(socket, port, requestNumber);
      else tunnelToLoopback(socket, port);
    };
    const { proxy, post } = await build({ behave, lookup: toBothFamilies });

    expect(await post()).toMatchObject({ statusCode: 200 });
    expect(proxy.requests.map((head) => head.split(':').slice(0, -2).join(':'))).toEqual([
      expect.stringContaining('CONNECT [2606:2800:21f::1]'),
      expect.stringContaining('CONNECT 93.184.215.14'),
    ]);
  });

  it('has no sockets open once the client is done with it', async () => {
    const answer: Answer = (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    const { proxy, post } = await build({ answer });

    expect(await post()).toMatchObject({ statusCode: 200 });
    await until(() => proxy.openConnections() === 0);
  });
});

describe('a proxy that fails', () => {
  it.each<[string, ProxyBehavior, string]>([
    [
      'refuses the credentials',
      refusing('407 Proxy Authentication Required'),
      'refused the connection with status 407',
    ],
    ['cannot reach the target', refusing('502 Bad Gateway'), 'refused the connection with status 502'],
    ['closes', (socket) => socket.end(), 'closed the connection before the tunnel was made'],
    [
      'closes in the middle of its reply',
      (socket) => socket.end('HTTP/1.1 200 Conn'),
      'closed the connection before the tunnel was made',
    ],
    ['resets', (socket) => socket.resetAndDestroy(), 'cannot be reached'],
    ['is no proxy', (socket) => socket.write('220 mail.example\r\n\r\n'), 'did not answer with HTTP/1'],
    ['never ends its reply', (socket) => socket.write('x'.repeat(9_000)), 'sent an endless reply'],
    [
      'sends a response of its own',
      (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'),
      'sent bytes without being asked',
    ],
  ])('gives a connection error without address and credentials if it %s', async (_case, behave, what) => {
    const { proxy, server, post } = await build({ behave, credentials: 'user:pass@', lookup: toBothFamilies });

    const detail = `the proxy ${what}`;
    expect(await post()).toEqual({ type: 'error', errorCode: 'connection_failed', detail, isUnsent: true });
    expect(server.connections).toHaveLength(0);
    await until(() => proxy.openConnections() === 0);
  });

  it('is not asked again with credentials that it refused', async () => {
    const { proxy, post } = await build({ behave: refusing('407 No'), lookup: toBothFamilies });

    expect(await post()).toMatchObject({ errorCode: 'connection_failed' });
    expect(proxy.requests).toHaveLength(1);
  });

  it('gives a connection error if nothing listens at its port', async () => {
    const { proxy, post } = await build();
    await proxy.stop();

    expect(await post()).toEqual({
      type: 'error',
      errorCode: 'connection_failed',
      detail: 'the proxy cannot be reached',
      isUnsent: true,
    });
  });

  it('gives a connection error if its name is unknown', async () => {
    const lookup: Lookup = (host) => (host === 'proxy.example' ? Promise.reject(new Error('x')) : toPublic(host));
    const { post } = await build({ lookup, proxyUrl: 'http://proxy.example:3128' });

    expect(await post()).toMatchObject({ detail: 'the proxy has a name that cannot be resolved' });
  });

  it('counts in the deadline of the request if it is silent, and leaves no socket', async () => {
    const { proxy, post } = await build({ behave: () => undefined, connectTimeoutMs: 300 });

    const silent = post('hooks.example', 100);
    expect(await settlesWithin(250, silent)).toBe(true);
    expect(await silent).toMatchObject({ type: 'error', errorCode: 'timeout' });
    await until(() => proxy.openConnections() === 0);
  });

  it('gives a connection error if it closes the tunnel in the middle of the TLS handshake', async () => {
    const behave: ProxyBehavior = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.once('data', () => socket.destroy());
    };
    const { post } = await build({ behave });

    expect(await post()).toMatchObject({ type: 'error', errorCode: 'connection_reset' });
  });

  it('gives a connection error if it closes the tunnel in the middle of the response', async () => {
    const answer: Answer = (socket) => socket.end('HTTP/1.1 20');
    const { post } = await build({ answer, secure: false });

    expect(await post()).toMatchObject({ type: 'error', errorCode: 'connection_reset' });
  });
});
