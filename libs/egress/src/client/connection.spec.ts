import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from '@jest/globals';
import { makeSelfSigned } from '../../../../test/support/certificates.js';
import { flushed, settlesWithin, until } from '../../../../test/support/until.js';
import { closedAfterEach } from '../testing/opened.js';
import { type Answer, endlessly, startConnectionServer, startRawServer, trickle } from '../testing/raw-server.js';
import { type EgressClientOptions, type EgressRequest } from './egress-client.js';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const OK = `${HEAD}content-length: 2\r\n\r\nok`;
const answerOk: Answer = (socket) => socket.write(OK);

const threads: Worker[] = [];
afterEach(() => Promise.all(threads.splice(0).map((thread) => thread.terminate())));
const { keep, openClient } = closedAfterEach();

function build(options: Partial<EgressClientOptions> = {}) {
  const client = openClient(options);
  return (url: string, request: Partial<EgressRequest> = {}) =>
    client.post({ url, headers: {}, body: '{}', deadlineMs: 2_000, ...request });
}

function afterMs(delayMs: number) {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

describe('an idle connection', () => {
  it('is closed when it has been idle for long', async () => {
    const server = keep(await startRawServer(answerOk));
    await build({ keepAliveMs: 100 })(server.url);

    expect(server.openConnections()).toBe(1);
    for (let waits = 0; waits < 60 && server.openConnections() > 0; waits += 1) await afterMs(50);
    expect(server.openConnections()).toBe(0);
  });

  it('is not used again after a long idle time, closed or not', async () => {
    const server = keep(await startRawServer(answerOk));
    const post = build({ keepAliveMs: 50 });

    await post(server.url);
    await afterMs(70);
    await post(server.url);

    expect(server.connections).toHaveLength(2);
  });

  it.each([
    ['two seconds before the other side closes it', 'keep-alive: timeout=2\r\n', 2],
    ['as long as the other side keeps it', 'keep-alive: timeout=60\r\n', 1],
  ])('is used until %s', async (_until, header, connections) => {
    const server = keep(await startRawServer((socket) => socket.write(OK.replace('\r\n', `\r\n${header}`))));
    const post = build();

    await post(server.url);
    await afterMs(20);
    await post(server.url);

    expect(server.connections).toHaveLength(connections);
  });

  it.each([
    ['4 s when the server does not say how long', '', 3_900, 4_100],
    ['30 s at most', 'keep-alive: timeout=3600\r\n', 29_900, 30_100],
  ])('is used for %s', async (_howLong, header, usedAfterMs, notUsedAfterMs) => {
    const server = keep(await startRawServer((socket) => socket.write(OK.replace('\r\n', `\r\n${header}`))));
    for (const [idleMs, connections] of [
      [usedAfterMs, 1],
      [notUsedAfterMs, 3],
    ] as const) {
      let passedMs = 0;
      const post = build({ monotonicMs: () => passedMs });
      await post(server.url);
      await afterMs(5);
      passedMs += idleMs;
      await post(server.url);
      expect(server.connections).toHaveLength(connections);
    }
  });

  it.each(['connection: close', 'keep-alive: timeout=1'])('is closed at once after %p', async (header) => {
    const server = keep(await startRawServer((socket) => socket.write(OK.replace('\r\n', `\r\n${header}\r\n`))));

    await build()(server.url);
    await afterMs(100);

    expect(server.openConnections()).toBe(0);
  });

  it('that the server has closed is not used', async () => {
    const server = keep(await startRawServer(answerOk));
    const post = build();
    await post(server.url);

    server.connections[0]?.end();
    await until(() => server.openConnections() === 0);

    expect(await post(server.url)).toMatchObject({ statusCode: 200 });
    expect(server.connections).toHaveLength(2);
  });

  it('is chosen by most recent use, so that the others expire', async () => {
    const server = keep(await startRawServer((socket) => setTimeout(() => socket.write(OK), 10)));
    const post = build();
    await Promise.all(Array.from({ length: 5 }, () => post(server.url)));

    const before = server.connections.map((socket) => socket.bytesRead);
    for (let count = 0; count < 5; count += 1) await post(server.url);
    const used = server.connections.filter((socket, index) => socket.bytesRead > (before[index] ?? 0));

    expect(used).toHaveLength(1);
  });
});

/** The first request is accepted, the second one is on the idle connection, and what comes after is as given. */
async function onIdleConnection(second: Answer, later: Answer = answerOk, deadlineMs = 3_000) {
  const server = keep(
    await startRawServer((socket, number) => {
      (number === 1 ? answerOk : number === 2 ? second : later)(socket, number);
    }),
  );
  const post = build();
  await post(server.url);
  await afterMs(5);
  const again = post(server.url, { body: 'again', deadlineMs });
  // A deadline that began again with the second connection would be over later than this.
  const inTime = await settlesWithin(deadlineMs + 75, again);
  return { server, result: await again, inTime };
}

describe('an idle connection that ends as a request leaves (R-21)', () => {
  const notice = 'HTTP/1.1 408 Request Timeout\r\n';

  it.each<[string, Answer]>([
    ['is closed', (socket) => socket.end()],
    ['is reset', (socket) => socket.resetAndDestroy()],
    ['is closed with a 408', (socket) => socket.end(`${notice}connection: close\r\ncontent-length: 0\r\n\r\n`)],
    ['has a 408 and a close later', (socket) => socket.write(`${notice}connection: close\r\n\r\n<html>`)],
    ['has a 408 of HTTP/1.0', (socket) => socket.end('HTTP/1.0 408 Request Time-out\r\n\r\n<html></html>')],
    ['has a 408 that does not say that it closes', (socket) => socket.end(`${notice}content-length: 0\r\n\r\n`)],
  ])('and %s has the request sent again at once on a new one', async (_case, second) => {
    const { server, result } = await onIdleConnection(second);

    expect(result).toMatchObject({ statusCode: 200 });
    expect(server.requests.map((request) => request.slice(-5))).toEqual([expect.any(String), 'again', 'again']);
    expect(server.connections).toHaveLength(2);
  });

  it('has the request sent again only once, within the same deadline', async () => {
    const resetAgain = await onIdleConnection(
      (socket) => socket.end(),
      (socket) => socket.end(),
    );
    expect(resetAgain.result).toMatchObject({ errorCode: 'connection_reset' });
    expect([resetAgain.server.requests.length, resetAgain.server.connections.length]).toEqual([3, 2]);

    const silent = await onIdleConnection(
      (socket) => setTimeout(() => socket.end(), 150),
      () => undefined,
      400,
    );
    expect(silent.result).toMatchObject({ errorCode: 'timeout' });
    expect(silent.inTime).toBe(true);
  });

  it.each<[string, Answer, object]>([
    ['a part of a status line', (socket) => socket.end('HTTP/1.1 2'), { errorCode: 'connection_reset' }],
    [
      'a 408 on a connection that stays',
      (socket) => socket.write(`${notice}content-length: 0\r\n\r\n`),
      { statusCode: 408 },
    ],
    ['no HTTP', (socket) => socket.end('sorry'), { errorCode: 'protocol_error' }],
    ['nothing for a second', (socket) => setTimeout(() => socket.end(), 1_100), { errorCode: 'connection_reset' }],
  ])('has no request sent again after %s, which is an answer', async (_case, second, expected) => {
    const { server, result } = await onIdleConnection(second);

    expect(result).toMatchObject(expected);
    expect(server.requests).toHaveLength(2);
  });

  it('is not to be confused with a new connection that ends: that is a failure', async () => {
    const server = keep(await startRawServer((socket) => socket.end()));
    expect(await build()(server.url)).toMatchObject({ errorCode: 'connection_reset' });
    expect(server.requests).toHaveLength(1);

    const notices = keep(
      await startRawServer((socket) => socket.end(`${notice}connection: close\r\ncontent-length: 0\r\n\r\n`)),
    );
    expect(await build()(notices.url)).toMatchObject({ statusCode: 408 });
    expect(notices.requests).toHaveLength(1);
  });

  it('makes the request take a new connection, not another idle one', async () => {
    let isClosing = false;
    const server = keep(
      await startRawServer((socket) => {
        if (isClosing && server.connections.indexOf(socket) < 3) socket.end();
        else setTimeout(() => socket.write(OK), 20);
      }),
    );
    const post = build({ connectionsPerOrigin: 3 });
    await Promise.all([post(server.url), post(server.url), post(server.url)]);
    isClosing = true;

    expect(await post(server.url)).toMatchObject({ statusCode: 200 });
    expect(server.connections).toHaveLength(4);
  });
});

describe('the rest of a response that is not kept', () => {
  it.each<[string, string, string, number]>([
    ['of 64 KiB', 'content-length: 65536\r\n\r\n', 'x'.repeat(65_536), 1],
    ['of many chunks', 'transfer-encoding: chunked\r\n\r\n', `${'400\r\n' + 'x'.repeat(1_024)}\r\n`.repeat(60), 1],
    ['beyond 64 KiB', 'content-length: 65537\r\n\r\n', 'x'.repeat(65_537), 2],
  ])('reads a body %s to keep the connection, within bounds', async (_case, head, body, connections) => {
    const server = keep(
      await startRawServer((socket) => {
        socket.write(HEAD + head);
        setTimeout(() => socket.write(head.startsWith('transfer') ? `${body}0\r\n\r\n` : body), 50);
      }),
    );
    const post = build();

    expect(await post(server.url, { keepBody: false })).toMatchObject({ statusCode: 200, truncated: true });
    await afterMs(200);
    await post(server.url);

    expect(server.connections).toHaveLength(connections);
  });

  it('never holds a connection beyond the deadline', async () => {
    const server = keep(await startRawServer((socket) => socket.write(`${HEAD}content-length: 5\r\n\r\n`)));

    await build()(server.url, { deadlineMs: 80, keepBody: false });
    await afterMs(200);

    expect(server.openConnections()).toBe(0);
  });
});

describe('a response that arrives in thousands of pieces', () => {
  it('is not read to its end, because each read costs as much as a packet', async () => {
    const server = keep(
      await startRawServer((socket) => {
        socket.setNoDelay();
        socket.write(`${HEAD}content-length: 4096\r\n\r\n`);
        trickle(socket, endlessly('x'), 1);
      }),
    );

    const result = await build()(server.url, { deadlineMs: 30_000 });

    expect(result).toMatchObject({ type: 'response', statusCode: 200, truncated: true });
    await until(() => server.openConnections() === 0);
  });
});

describe('the request', () => {
  it.each([0, 1, 1_000, 16_384, 16_385, 300_000])('with a body of %d bytes arrives unchanged', async (length) => {
    const server = keep(await startRawServer(answerOk));
    const body = Buffer.from(Array.from({ length }, (_, index) => index % 256));

    expect(await build()(server.url, { body })).toMatchObject({ statusCode: 200 });

    const [request = ''] = server.requests;
    expect(request).toContain(`\r\ncontent-length: ${String(length)}\r\n\r\n`);
    expect(Buffer.from(request.slice(request.indexOf('\r\n\r\n') + 4), 'latin1').equals(body)).toBe(true);
  });

  it('with a string as its body is sent as UTF-8', async () => {
    const server = keep(await startRawServer(answerOk));

    await build()(server.url, { body: 'grün 🌱' });

    expect(Buffer.from(server.requests[0]?.slice(-10) ?? '', 'latin1').toString()).toBe('grün 🌱');
  });

  it('that was answered before it was read leaves no reusable connection', async () => {
    const server = keep(
      await startConnectionServer((socket) => {
        socket.pause();
        socket.write(OK);
        // Read it in the end, so that a second request on this connection would be answered with the first body.
        setTimeout(() => socket.resume(), 100);
      }),
    );
    const post = build();

    expect(await post(server.url, { body: Buffer.alloc(20_000_000) })).toMatchObject({ statusCode: 200 });
    expect(await post(server.url)).toMatchObject({ statusCode: 200 });
    expect(server.connections).toHaveLength(2);
  });
});

/** Counts connections and answers in a memory that a blocked event loop can wait for. */
const TLS_RECEIVER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { createServer } = require('node:tls');
  const server = createServer({ ...workerData.certificate, noDelay: true }, (socket) => {
    Atomics.add(workerData.counts, 0, 1);
    socket.on('error', () => {});
    socket.on('data', () => {
      socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\\r\\n');
      Atomics.add(workerData.counts, 1, 1);
      Atomics.notify(workerData.counts, 1);
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

describe('a TLS receiver that answers before this process knows that the request is written', () => {
  it('keeps its connection', async () => {
    const certificate = makeSelfSigned('IP:127.0.0.1');
    const counts = new Int32Array(new SharedArrayBuffer(8));
    const thread = new Worker(TLS_RECEIVER, { eval: true, workerData: { certificate, counts } });
    threads.push(thread);
    const [port] = (await once(thread, 'message')) as [number];
    const post = build({ trustedCa: certificate.cert });

    for (let answers = 0; answers < 5; answers += 1) {
      const posted = post(`https://127.0.0.1:${String(port)}/`, { deadlineMs: 10_000 });
      // Right after the write on the kept connection: the answer is there before the event loop reports the write as done.
      if (answers > 0) setImmediate(() => Atomics.wait(counts, 1, answers, 1_000));
      expect(await posted).toMatchObject({ statusCode: 200 });
      await until(() => counts[1] === answers + 1);
    }

    expect(counts[0]).toBe(1);
  });
});

describe('an endpoint that sends unrequested responses', () => {
  const accepted = `${HEAD}content-length: 0\r\n\r\n`;
  const refusing = 'HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n';

  it.each<[string, Answer]>([
    ['together with the first answer', (socket, number) => socket.write(number === 1 ? accepted + accepted : refusing)],
    [
      'in part, together with the first answer',
      (socket, number) => socket.write(number === 1 ? `${accepted}HTTP/1.1 2` : refusing),
    ],
    [
      'a moment later',
      (socket, number) => {
        socket.write(number === 1 ? accepted : refusing);
        if (number === 1) setTimeout(() => socket.write(accepted), 10);
      },
    ],
  ])('%s cannot have it taken for the answer to the next request', async (_case, answer) => {
    const server = keep(await startRawServer(answer));
    const post = build();

    expect(await post(server.url)).toMatchObject({ statusCode: 200 });
    await until(() => server.openConnections() === 0);

    expect(await post(server.url)).toMatchObject({ statusCode: 503 });
    expect(server.connections).toHaveLength(2);
  });

  it('right before the next request cannot have it taken for its response', async () => {
    const server = keep(await startRawServer((socket, number) => socket.write(number === 1 ? accepted : refusing)));
    const post = build();
    expect(await post(server.url)).toMatchObject({ statusCode: 200 });

    // A connection is free for the next request one iteration of the event loop after its response.
    await flushed();
    server.connections[0]?.write(accepted);

    expect(await post(server.url)).toMatchObject({ statusCode: 503 });
    expect(server.connections).toHaveLength(2);
  });

  it.each([
    ['content-length: 8', 'surprise'],
    ['transfer-encoding: chunked', '8\r\nsurprise\r\n0\r\n\r\n'],
  ])('late, as the body that a 204 announces by %p, harms no later request', async (line, body) => {
    const head = `HTTP/1.1 204 No Content\r\n${line}\r\n\r\n`;
    const late = () => (server.requests.length > server.connections.length ? body : '');
    const server = keep(await startRawServer((socket) => socket.write(late() + head)));
    const post = build();

    for (let count = 0; count < 2; count += 1) expect(await post(server.url)).toMatchObject({ statusCode: 204 });
    expect(server.connections).toHaveLength(2);
  });

  it('with a body after a 204 counts with its status, and the connection is not reused', async () => {
    const server = keep(await startRawServer((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\nsurprise')));
    const post = build();

    expect(await post(server.url)).toMatchObject({ type: 'response', statusCode: 204 });
    await until(() => server.openConnections() === 0);
    expect(await post(server.url)).toMatchObject({ type: 'response', statusCode: 204 });
    expect(server.connections).toHaveLength(2);
  });
});
