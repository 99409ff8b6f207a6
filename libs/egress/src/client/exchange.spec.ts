import { getEventListeners, once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from '@jest/globals';
import { settlesWithin, until } from '../../../../test/support/until.js';
import { bytesReadByClients } from '../testing/client-sockets.js';
import { closedAfterEach } from '../testing/opened.js';
import {
  type Answer,
  endlessly,
  flood,
  type RawServer,
  startConnectionServer,
  startRawServer,
  trickle,
} from '../testing/raw-server.js';
import { type EgressClientOptions, type EgressRequest } from './egress-client.js';
import type { EgressResult } from './egress-result.js';
import { Exchange } from './exchange.js';

const DEADLINE_MS = 200;
/** Tolerates a machine under load, but not an endless exchange. */
const SLACK_MS = 10_000;

const threads: Worker[] = [];
afterEach(() => Promise.all(threads.splice(0).map((thread) => thread.terminate())));
const { keep, openClient } = closedAfterEach();
const bytesRead = bytesReadByClients();

function build(options: Partial<EgressClientOptions> = {}) {
  const client = openClient(options);
  return (url: string, body: string | Uint8Array = '{}', deadlineMs = DEADLINE_MS) =>
    client.post({ url, headers: {}, body, deadlineMs });
}

async function timed(post: Promise<EgressResult>): Promise<{ result: EgressResult; tookMs: number }> {
  const startedAt = performance.now();
  return { result: await post, tookMs: performance.now() - startedAt };
}

/** The other side sees a closed socket a moment after it is closed. */
function allClosed(server: RawServer): Promise<void> {
  return until(() => {
    expect(server.openConnections()).toBe(0);
  });
}

function write(text: string): Answer {
  return (socket) => socket.write(text, 'latin1');
}
function writeAndReset(text: string): Answer {
  return (socket) => {
    socket.write(text);
    setTimeout(() => socket.resetAndDestroy(), 30);
  };
}
function floodBehind(text: string, piece: string): Answer {
  return (socket) => {
    socket.write(text);
    flood(socket, piece);
  };
}
function trickleBehind(text: string, piece: string): Answer {
  return (socket) => {
    if (text !== '') socket.write(text);
    trickle(socket, endlessly(piece), 20);
  };
}

const OK = 'HTTP/1.1 200 OK\r\n';
const LONG = 'x'.repeat(20_000);

describe('an endpoint that sends no status line', () => {
  it.each<[string, string, Answer]>([
    ['is silent', 'timeout', () => undefined],
    ['stops within the status line', 'timeout', write('HTTP/1.1 20')],
    ['trickles the status line', 'timeout', trickleBehind('HTTP/1.1 200 ', 'O')],
    [
      'sends interim responses without end, slowly',
      'timeout',
      (socket) => {
        trickle(socket, endlessly('HTTP/1.1 102 Processing\r\n\r\n'), 60);
      },
    ],
    ['sends interim responses without end, fast', 'protocol_error', floodBehind('', 'HTTP/1.1 100 Continue\r\n\r\n')],
    ['has an endless header in an interim response', 'protocol_error', floodBehind('HTTP/1.1 103 Early\r\na: ', 'x')],
    ['has an endless reason phrase', 'protocol_error', floodBehind('HTTP/1.1 200 ', 'x')],
    ['greets as a mail server', 'protocol_error', write('220 mail.example ESMTP\r\n')],
    ['greets as a shell server', 'protocol_error', write('SSH-2.0-server\r\n')],
    ['speaks HTTP/2', 'protocol_error', write('\u0000\u0000\u0012\u0004\u0000\u0000\u0000\u0000\u0000')],
    ['speaks TLS', 'protocol_error', write('\u0015\u0003\u0001\u0000\u0002\u0002\u0016')],
    ['speaks HTTP/0.9', 'protocol_error', write('<html>ok</html>')],
    ['claims HTTP/2.0', 'protocol_error', write('HTTP/2.0 200 OK\r\n\r\n')],
    ['has a status of two digits', 'protocol_error', write('HTTP/1.1 20 OK\r\n\r\n')],
    ['has a status of four digits', 'protocol_error', write('HTTP/1.1 2000 OK\r\n\r\n')],
    ['has a status below 100', 'protocol_error', write('HTTP/1.1 099 Odd\r\n\r\n')],
    ['has words for a status', 'protocol_error', write('HTTP/1.1 OK 200\r\n\r\n')],
    ['changes the protocol', 'protocol_error', write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n')],
    ['sends an empty line first', 'protocol_error', write('\r\nHTTP/1.1 200 OK\r\n\r\n')],
    ['resets', 'connection_reset', (socket) => socket.resetAndDestroy()],
    ['closes', 'connection_reset', (socket) => socket.end()],
    ['closes within the status line', 'connection_reset', (socket) => socket.end('HTTP/1.1 2')],
    ['resets after an interim response', 'connection_reset', writeAndReset('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ])('and %s: %s', async (_case, errorCode, answer) => {
    const server = keep(await startRawServer(answer));

    // Anything but a timeout may take as long as a busy machine needs.
    const deadlineMs = errorCode === 'timeout' ? DEADLINE_MS : SLACK_MS;
    const { result, tookMs } = await timed(build()(server.url, '{}', deadlineMs));

    expect(result).toMatchObject({ type: 'error', errorCode });
    expect(tookMs).toBeLessThan(deadlineMs + SLACK_MS);
    await allClosed(server);
    expect(server.connections).toHaveLength(1);
  });

  it('gives connection_reset if it closes or resets at once', async () => {
    const closing = keep(await startConnectionServer((socket) => socket.end().resume()));
    const resetting = keep(await startConnectionServer((socket) => socket.resetAndDestroy()));

    for (const server of [closing, resetting]) {
      expect(await build()(server.url)).toMatchObject({ type: 'error', errorCode: 'connection_reset' });
      await allClosed(server);
    }
  });

  it('gives timeout if it never reads the request', async () => {
    const server = keep(await startConnectionServer((socket) => socket.pause()));

    const { result, tookMs } = await timed(build()(server.url, Buffer.alloc(20_000_000)));

    expect(result).toMatchObject({ type: 'error', errorCode: 'timeout' });
    expect(tookMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
  });

  it('gives connection_reset at once if it closes without having read the request', async () => {
    const server = keep(await startConnectionServer((socket) => socket.pause().end()));

    const { result, tookMs } = await timed(build()(server.url, Buffer.alloc(20_000_000), 10_000));

    expect(result).toMatchObject({ type: 'error', errorCode: 'connection_reset' });
    expect(tookMs).toBeLessThan(5_000);
  });

  it.each([
    ['the same', DEADLINE_MS],
    ['a shorter one', 50],
  ])(
    'gives timeout at %s deadline if its TLS handshake never ends, and the socket is gone soon after',
    async (_of, deadlineMs) => {
      const server = keep(await startConnectionServer((socket) => socket.resume(), { scheme: 'https' }));

      const { result } = await timed(build({ connectTimeoutMs: DEADLINE_MS })(server.url, '{}', deadlineMs));

      expect(result).toMatchObject({ type: 'error', errorCode: 'timeout' });
      expect(server.connections).toHaveLength(1);
      await allClosed(server);
    },
  );

  it.each<[string, (server: { write(text: string): void; destroy(): void }) => void, string]>([
    [
      'is garbage',
      (socket) => {
        socket.write('this is not a handshake\r\n');
      },
      'tls_error',
    ],
    [
      'breaks off',
      (socket) => {
        socket.destroy();
      },
      'connection_reset',
    ],
  ])('because its TLS handshake %s: a failure at once', async (_case, answer, errorCode) => {
    const server = keep(
      await startConnectionServer(
        (socket) =>
          socket.once('data', () => {
            answer(socket);
          }),
        { scheme: 'https' },
      ),
    );

    expect(await build()(server.url, '{}', 5_000)).toMatchObject({ type: 'error', errorCode });
    await allClosed(server);
  });
});

/** from its status line on, a response is what it says. */
describe('an endpoint that misbehaves after its status line', () => {
  it.each<[string, Answer]>([
    ['stops within its headers', write(`${OK}x-slow`)],
    ['trickles headers without end', trickleBehind(OK, 'x-more: 1\r\n')],
    ['floods with headers', floodBehind(OK, 'x-more: 1\r\n')],
    ['floods with empty headers', floodBehind(OK, 'a:\r\n')],
    ['has an endless header', floodBehind(`${OK}x-more: `, 'x')],
    ['has a header beyond the bound', write(`${OK}x-long: ${LONG}\r\n\r\n`)],
    ['has a header that is none', write(`${OK}no colon here\r\n\r\n`)],
    ['has a zero byte in a header', write(`${OK}x-zero: a\u0000b\r\n\r\n`)],
    ['has a length that is none', write(`${OK}content-length: many\r\n\r\nok`)],
    ['has a negative length', write(`${OK}content-length: -5\r\n\r\nok`)],
    ['has two lengths', write(`${OK}content-length: 2\r\ncontent-length: 3\r\n\r\nok`)],
    [
      'has a length and chunks',
      write(`${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`),
    ],
    ['resets within its headers', writeAndReset(`${OK}x-slow`)],
    ['closes within its headers', (socket) => socket.end(`${OK}x-slow`)],
    ['resets within its body', writeAndReset(`${OK}content-length: 50\r\n\r\nshort`)],
    ['closes within its body', (socket) => socket.end(`${OK}content-length: 50\r\n\r\nshort`)],
    ['closes within a chunk', (socket) => socket.end(`${OK}transfer-encoding: chunked\r\n\r\n50\r\nshort`)],
    ['trickles its body', trickleBehind(`${OK}content-length: 5000\r\n\r\n`, 'x')],
    ['trickles its body without a length', trickleBehind(`${OK}\r\n`, 'x')],
    ['trickles chunks of one byte', trickleBehind(`${OK}transfer-encoding: chunked\r\n\r\n`, '1\r\nx\r\n')],
    ['never ends its body', write(`${OK}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n`)],
    ['floods with its body', floodBehind(`${OK}\r\n`, 'x')],
    ['floods with chunks of one byte', floodBehind(`${OK}transfer-encoding: chunked\r\n\r\n`, '1\r\nx\r\n')],
    ['has an endless chunk extension', floodBehind(`${OK}transfer-encoding: chunked\r\n\r\n1;a=`, 'x')],
    ['has an endless chunk length', floodBehind(`${OK}transfer-encoding: chunked\r\n\r\n`, '0')],
    ['has endless trailers', floodBehind(`${OK}transfer-encoding: chunked\r\n\r\n0\r\n`, 'x-more: 1\r\n')],
    ['has a chunk length that is none', write(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\nok\r\n`)],
    ['has a huge chunk length', write(`${OK}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nok\r\n`)],
    ['answers in HTTP/1.0 and never closes', write('HTTP/1.0 200 OK\r\n\r\nok')],
  ])('by way of %p counts with its status, in time, and its socket is gone', async (_case, answer) => {
    const server = keep(await startRawServer(answer));

    const { result, tookMs } = await timed(build()(server.url));

    expect(result).toMatchObject({ type: 'response', statusCode: 200, truncated: true });
    expect(result.type === 'response' && result.body.length).toBeLessThanOrEqual(4_096);
    expect(tookMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    await allClosed(server);
    expect(server.connections).toHaveLength(1);
    // The first 64 KiB are drained to keep the connection, and what one pass over the socket had read already.
    expect(bytesRead()).toBeLessThan(131_072);
  });

  it.each<[string, Answer, object]>([
    ['HTTP/1.0 without a length', (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nok'), { statusCode: 200 }],
    ['no reason phrase', write('HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok'), { statusCode: 200 }],
    ['an unassigned status', write('HTTP/1.1 299 Odd\r\ncontent-length: 2\r\n\r\nok'), { statusCode: 299 }],
    [
      'an unasked 100 Continue before the status',
      write(`HTTP/1.1 100 Continue\r\n\r\n${OK}content-length: 2\r\n\r\nok`),
      { statusCode: 200 },
    ],
    [
      'two interim responses, each on its own',
      (socket) => {
        trickle(
          socket,
          [
            'HTTP/1.1 100 Continue\r\n\r\n',
            'HTTP/1.1 103 Hints\r\nlink: <x>\r\n\r\n',
            `${OK}content-length: 2\r\n\r\nok`,
          ],
          10,
        );
      },
      { statusCode: 200 },
    ],
    [
      'everything byte by byte',
      (socket) => {
        for (const byte of `${OK}content-length: 2\r\n\r\nok`) socket.write(byte);
      },
      { statusCode: 200 },
    ],
  ])('is not what %p is: a whole response', async (_case, answer, expected) => {
    const server = keep(await startRawServer(answer));

    expect(await build()(server.url, '{}', 3_000)).toMatchObject({
      type: 'response',
      body: Buffer.from('ok'),
      truncated: false,
      ...expected,
    });
  });
});

/** Only the status and the headers are of interest, as for a delivery. */
function buildUnkept(options: Partial<EgressClientOptions> = {}) {
  const client = openClient(options);
  return (url: string, request: Partial<EgressRequest> = {}) =>
    client.post({ url, headers: {}, body: '{}', deadlineMs: 10_000, keepBody: false, ...request });
}

describe('a post that does not keep the body', () => {
  it.each<[string, Answer, number]>([
    ['nothing follows its status line', write(OK), 1_000],
    ['its headers stop', write(`${OK}x-slow`), 1_000],
    ['its headers trickle', trickleBehind(OK, 'x-more: 1\r\n'), 1_000],
    ['no body follows its head', write(`${OK}content-length: 5\r\n\r\n`), 0],
    ['its body trickles', trickleBehind(`${OK}content-length: 5000\r\n\r\n`, 'x'), 0],
    ['its body never ends', write(`${OK}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n`), 0],
  ])('settles long before the deadline when %s, and its socket is closed', async (_case, answer, withinMs) => {
    const server = keep(await startRawServer(answer));

    const post = buildUnkept()(server.url);
    expect(await settlesWithin(withinMs + 400, post)).toBe(true);

    expect(await post).toMatchObject({ type: 'response', statusCode: 200, truncated: true });
    await allClosed(server);
  });

  it('waits a moment for the headers, which may ask for a pause', async () => {
    const server = keep(
      await startRawServer((socket) => {
        socket.write('HTTP/1.1 503 Busy\r\n');
        setTimeout(() => socket.write('retry-after: 7\r\ncontent-length: 0\r\n\r\n'), 400);
      }),
    );

    expect(await buildUnkept()(server.url)).toMatchObject({ statusCode: 503, headers: { 'retry-after': '7' } });
  });
});

/** Answers on a thread of its own, so that it does so while the event loop of the test is blocked. */
const OTHER_THREAD = String.raw`
  const { createServer } = require('node:net');
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => setTimeout(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'), 50));
  });
  server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port));
`;

describe('a post that was sent on a connection that the other side had ended', () => {
  it('may have arrived, so it is never called unsent, whatever comes of sending it again', async () => {
    const limits = { maxBodyBytes: 0, keepBody: false };
    const rest = { signal: undefined, group: undefined, isWanted: undefined };
    const queue = { leave: () => undefined, isWithoutTurn: () => false };
    const result = new Promise((resolve) => {
      const exchange = new Exchange({ head: '', body: Buffer.alloc(0), deadlineMs: 1_000, limits, ...rest }, resolve);
      exchange.waitIn(queue);
      exchange.start({ responseSoFar: () => undefined, cut: () => undefined });
      exchange.waitAgainIn(queue);
      exchange.fail(new Error('no connection'));
    });
    expect(await result).toEqual({ type: 'error', errorCode: 'network_error', detail: 'no connection' });
  });
});

describe('a signal that many posts share', () => {
  it('is left by each of them at its end', async () => {
    const server = keep(await startRawServer(write(`${OK}content-length: 0\r\n\r\n`)));
    const { signal } = new AbortController();

    await openClient().post({ url: server.url, headers: {}, body: '', signal });

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('an event loop that was blocked over a deadline', () => {
  it('reads the responses that arrived in time before it calls anything late', async () => {
    const thread = new Worker(OTHER_THREAD, { eval: true });
    threads.push(thread);
    const [port] = (await once(thread, 'message')) as [number];
    const post = buildUnkept();
    const url = `http://127.0.0.1:${String(port)}/`;
    await Promise.all(Array.from({ length: 20 }, () => post(url)));

    const posts = Array.from({ length: 20 }, () => post(url, { deadlineMs: 200 }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);

    expect(new Set((await Promise.all(posts)).map(({ type }) => type))).toEqual(new Set(['response']));
  });
});

describe('a client with many misbehaving endpoints', () => {
  it('has no open socket after it is closed, whatever they were doing', async () => {
    const started = await Promise.all([
      startRawServer(() => undefined),
      startRawServer(write(`${OK}x-slow`)),
      startRawServer(trickleBehind(`${OK}\r\n`, 'x')),
      startConnectionServer((socket) => socket.resume(), { scheme: 'https' }),
      startRawServer(write(`${OK}content-length: 0\r\n\r\n`)),
    ]);
    started.forEach(keep);
    const client = openClient();
    const posts = started.flatMap(({ url }) => [1, 2, 3].map(() => client.post({ url, headers: {}, body: '' })));
    await until(() => started.every(({ connections }) => connections.length > 0));

    await client.close();

    const results = await Promise.all(posts);
    const closed = { type: 'error', errorCode: 'network_error', detail: 'the client is closed' };
    // Those of the silent server, and of the one that does not get on with TLS; the others may have their status.
    for (const result of [...results.slice(0, 3), ...results.slice(9, 12)]) expect(result).toMatchObject(closed);
    for (const server of started) await allClosed(server);
  });
});
