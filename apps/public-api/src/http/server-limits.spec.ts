import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { exchange as exchangeRaw, type RawAnswer } from '../testing/raw-exchange.js';
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

/** On a connection that does not outlive the test. */
function exchange({ url }: TestApi, ...parts: readonly string[]): Promise<RawAnswer> {
  return exchangeRaw(url, parts, (socket) => sockets.push(socket));
}

const GET = 'GET /public/openapi.json HTTP/1.1\r\nHost: api\r\n';
function quick(limits: Partial<ServerLimits>): TestApiOptions {
  return { limits: { ...SERVER_LIMITS, checkIntervalMs: 20, ...limits } };
}

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
    ['a request without a Host', ['GET /public/openapi.json HTTP/1.1\r\n\r\n'], 400, 'invalid_request'],
    [
      'an expectation that no server meets',
      [`${GET}Expect: miracles\r\nConnection: close\r\n\r\n`],
      417,
      'invalid_request',
    ],
  ])('answers %s in the shape of all errors', async (_what, parts, status, code) => {
    const answer = await exchange(await build(), ...parts);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toEqual({
      error: { code, message: expect.any(String) as unknown, requestId: expect.any(String) as unknown },
    });
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
    const third = async () => (await exchange(started, `${GET}Connection: close\r\n\r\n`)).status;
    await until(async () => (await third()) === 0);
    for (const socket of sockets) socket.destroy();
    await Promise.all([first, second]);
    await until(async () => (await third()) === 200);
  });

  it('still serves after all of that', async () => {
    const started = await build();
    for (let i = 0; i < 20; i++) await exchange(started, '\0\0\0\r\n\r\n');
    expect((await started.request('/public/openapi.json')).status).toBe(200);
    expect(started.errors).toEqual([]);
  });
});

describe('what the server refuses of version 1 (R-32)', () => {
  const V1 = '/public/v1/webhook-events';
  const HEAD = ' HTTP/1.1\r\nHost: api\r\n';
  const DEPRECATION = [
    'deprecation: true',
    'sunset: tue, 25 aug 2026 23:59:59 gmt',
    'link: </public/v2/events>; rel="successor-version"',
  ];
  const BODY = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const expectThem = (answer: RawAnswer): void => {
    for (const header of DEPRECATION) expect(answer.headers).toContain(header);
  };
  const expectNone = (answer: RawAnswer): void => expect(answer.headers).not.toMatch(/deprecation|sunset|link:/);
  const refused = (target: string): [number, string][] => [
    [417, `GET ${target}${HEAD}Expect: miracles\r\nConnection: close\r\n\r\n`],
    [400, `GET ${target}${HEAD}: x\r\n\r\n`],
    [400, `GET ${target} HTTP/1.1\r\nConnection: close\r\n\r\n`],
    [400, `GET ${target}${HEAD}${BODY}zz\r\n`],
    [431, `GET ${target}${HEAD}X-Long: ${'x'.repeat(17_000)}\r\n\r\n`],
  ];

  it.each([
    V1,
    `${V1}?limit=1`,
    `${V1.toUpperCase()}/`,
    `${V1}/more`,
    `http://api${V1}?limit=1`,
    `HTTP://user@api.example:80${V1}`,
  ])('says that it is deprecated: %s', async (target) => {
    const started = await build();
    for (const [status, text] of refused(target)) {
      const answer = await exchange(started, text);
      expect(answer.status).toBe(status);
      expectThem(answer);
    }
  });

  it.each(['/public/v2/events', `${V1}s`, `/x${V1}`, `/public/v2/events?from=${V1}`, `http://api/x${V1}`])(
    'says nothing of the sort of anything else: %s',
    async (target) => {
      const started = await build();
      for (const [status, text] of refused(target)) {
        const answer = await exchange(started, text);
        expect(answer.status).toBe(status);
        expectNone(answer);
      }
    },
  );

  it.each([V1, `http://api${V1}`])('is gone once the switch is on: %s', async (target) => {
    const started = await build({ v1Gone: true });
    for (const [, text] of refused(target)) {
      const answer = await exchange(started, text);
      expect(answer.status).toBe(410);
      expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'gone' } });
      expectThem(answer);
    }
  });

  it('reports a body that does not end', async () => {
    const started = await build(quick({ headersTimeoutMs: 100, requestTimeoutMs: 200 }));
    const answer = await inTwoPieces(started, `GET ${V1}${HEAD}${BODY}`, '5\r\n{"a":\r\n');
    expect(answer.status).toBe(408);
    expectThem(answer);
  });

  it('reports a body that breaks off, in any framing', async () => {
    const started = await build();
    for (const body of ['zz\r\n', 'GET /public/v2/events HTTP/1.1\r\n']) {
      const answer = await inTwoPieces(started, `GET ${V1}${HEAD}${BODY}`, body);
      expect(answer.status).toBe(400);
      expectThem(answer);
    }
    const other = await inTwoPieces(started, `GET /public/v2/events${HEAD}${BODY}`, `GET ${V1} HTTP/1.1\r\n`);
    expect(other.status).toBe(400);
    expectNone(other);
  });

  it('does not report it for later requests on the same connection', async () => {
    const started = await build(quick({ headersTimeoutMs: 500, requestTimeoutMs: 1_000 }));
    const first = `GET ${V1}${HEAD}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    const [answered = '', second = ''] = (await bothAnswers(started, first, 'GET /public/v2/events')).split(
      /(?=http\/1\.1 408)/,
    );
    expect(answered).toContain('deprecation: true');
    expect(second).toContain('408');
    expect(second).not.toContain('deprecation');
  });

  /** The second piece goes out once the first has been read. */
  function inTwoPieces(started: TestApi, first: string, second: string): Promise<RawAnswer> {
    const answer = exchange(started, first);
    setTimeout(() => sockets.at(-1)?.write(second, 'latin1'), 40);
    return answer;
  }

  async function bothAnswers(started: TestApi, first: string, second: string): Promise<string> {
    const heard: Buffer[] = [];
    const ended = exchangeRaw(started.url, [first], (socket) => {
      sockets.push(socket);
      socket.on('data', (chunk) => heard.push(chunk));
      socket.once('data', () => socket.write(second, 'latin1'));
    });
    await ended;
    return Buffer.concat(heard).toString('latin1').toLowerCase();
  }
});
