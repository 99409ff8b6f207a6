import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi, type TestApiOptions } from '../testing/test-api.js';
import { SERVER_LIMITS, type ServerLimits } from './server-limits.js';

let api: TestApi | undefined;
const sockets: Socket[] = [];
async function build(options: TestApiOptions = {}): Promise<TestApi> {
  api = await startTestApi(options);
  return api;
}
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await api?.close();
  api = undefined;
});

interface RawAnswer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

/** Bytes on a bare connection, and everything that comes back until the server hangs up. */
function exchange({ url }: TestApi, ...parts: readonly string[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // The server may hang up while we still send.
  socket.on('error', () => undefined);
  for (const part of parts) socket.write(part, 'latin1');
  return new Promise((resolve) => {
    socket.on('close', () => {
      const [head = '', body = ''] = Buffer.concat(chunks).toString('latin1').split('\r\n\r\n', 2);
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), headers: head.toLowerCase(), body });
    });
  });
}

const GET = 'GET /public/openapi.json HTTP/1.1\r\nHost: api\r\n';
const quick = (limits: Partial<ServerLimits>): TestApiOptions => ({
  limits: { ...SERVER_LIMITS, checkIntervalMs: 20, ...limits },
});

describe('the HTTP server', () => {
  it.each([
    ['bytes that are no HTTP', ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'], 400, 'invalid_request'],
    ['an unknown method', ['SLEEP / HTTP/1.1\r\nHost: api\r\n\r\n'], 400, 'invalid_request'],
    ['a header without a name', [`${GET}: x\r\n\r\n`], 400, 'invalid_request'],
    [
      'two lengths',
      ['POST / HTTP/1.1\r\nHost: api\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
      400,
      'invalid_request',
    ],
    [
      'a broken chunk',
      [
        'POST /public/v1/webhook-subscriptions HTTP/1.1\r\nHost: api\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      ],
      400,
      'invalid_request',
    ],
    ['headers of more than 16 KB', [`${GET}X-Long: ${'x'.repeat(17_000)}\r\n\r\n`], 431, 'headers_too_large'],
    [
      'a request line of more than 16 KB',
      [`GET /${'x'.repeat(17_000)} HTTP/1.1\r\nHost: api\r\n\r\n`],
      431,
      'headers_too_large',
    ],
    [
      'an expectation that nobody meets',
      [`${GET}Expect: miracles\r\nConnection: close\r\n\r\n`],
      417,
      'invalid_request',
    ],
  ])('answers %s in the shape of all errors', async (_what, parts, status, code) => {
    const answer = await exchange(await build(), ...parts);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toEqual({ error: { code, message: expect.any(String) as unknown } });
    expect(answer.headers).toContain('content-type: application/json; charset=utf-8');
    expect(answer.headers).toContain('x-content-type-options: nosniff');
    expect(answer.headers).toContain('cache-control: no-store');
    expect(answer.headers).toContain('connection: close');
    expect(answer.body).not.toMatch(/HPE_|Parse Error|node:/);
  });

  it('hangs up on headers that trickle in, and says why', async () => {
    const started = await build(quick({ headersTimeoutMs: 150, requestTimeoutMs: 300 }));
    const answer = await exchange(started, GET);
    expect(answer.status).toBe(408);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'request_timeout' } });
  });

  it('hangs up on connections that say nothing', async () => {
    const started = await build(quick({ headersTimeoutMs: 100, requestTimeoutMs: 200 }));
    expect((await exchange(started)).status).toBe(408);
  });

  it('hangs up on a body that does not end', async () => {
    const started = await build(quick({ headersTimeoutMs: 100, requestTimeoutMs: 200 }));
    const head = 'POST /public/v1/webhook-subscriptions HTTP/1.1\r\nHost: api\r\nContent-Type: application/json\r\n';
    const answer = await exchange(started, `${head}Content-Length: 1000\r\n\r\n{"url":`);
    expect([0, 401, 408]).toContain(answer.status);
  });

  it('hangs up on connections that wait too long for another request', async () => {
    const started = await build(quick({ keepAliveTimeoutMs: 100 }));
    expect((await exchange(started, `${GET}\r\n`)).status).toBe(200);
  });

  it('takes no more connections than it can serve', async () => {
    const started = await build(quick({ maxConnections: 2 }));
    const [first, second] = [exchange(started, GET), exchange(started, GET)];
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await exchange(started, `${GET}Connection: close\r\n\r\n`)).status).toBe(0);
    for (const socket of sockets) socket.destroy();
    await Promise.all([first, second]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await exchange(started, `${GET}Connection: close\r\n\r\n`)).status).toBe(200);
  });

  it('goes on serving after all of that', async () => {
    const started = await build();
    for (let i = 0; i < 20; i++) await exchange(started, '\0\0\0\r\n\r\n');
    expect((await started.request('/public/openapi.json')).status).toBe(200);
    expect(started.errors).toEqual([]);
  });
});
