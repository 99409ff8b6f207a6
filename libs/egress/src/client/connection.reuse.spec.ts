import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { holdsFor, until } from '../../../../test/support/until.js';
import { closedAfterEach } from '../testing/opened.js';
import { type Answer } from '../testing/raw-server.js';
import { Connection } from './connection.js';
import type { EgressResult } from './egress-result.js';
import { Exchange } from './exchange.js';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const answerOk: Answer = (socket) => socket.write(`${HEAD}content-length: 0\r\n\r\n`);
const NOTICE: Answer = (socket) => socket.end('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n');

const { build, serve } = closedAfterEach();
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A connection without a client, that tells its owner what happens; `afterRead` runs before the event loop goes on. */
async function attached(port: number, monotonicMs: () => number, afterRead: () => void = () => undefined) {
  const happened: string[] = [];
  const connection = new Connection(
    {
      onFree: () => happened.push('free'),
      onStale: () => happened.push('stale'),
      onClosed: () => happened.push('closed'),
    },
    { keepAliveMs: 30_000, maxAgeMs: 120_000, maxHeadBytes: 16_384, monotonicMs },
  );
  const { buffer, callback } = connection.onread();
  const read: typeof callback = (...bytes) => {
    const goesOn = callback(...bytes);
    afterRead();
    return goesOn;
  };
  const socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback: read } });
  sockets.push(socket);
  await once(socket, 'connect');
  connection.attach(socket);
  const receive = (text: string) => void callback(buffer.write(text), buffer);
  return { connection, happened, receive };
}

function anExchange(resolve: (result: EgressResult) => void = () => undefined, deadlineMs = 20_000): Exchange {
  const limits = { maxBodyBytes: 0, keepBody: false };
  const rest = { signal: undefined, group: undefined, isWanted: undefined };
  const head = 'POST / HTTP/1.1\r\n\r\n';
  return new Exchange({ head, body: Buffer.alloc(0), deadlineMs, limits, ...rest }, resolve);
}

function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('a connection', () => {
  it('is replaced after two minutes, however busy it is, so that a host that has moved is found', async () => {
    let passedMs = 0;
    const server = await serve(answerOk);
    const post = build({ monotonicMs: () => passedMs });
    for (; passedMs < 120_000; passedMs += 3_000) {
      await post(server.url);
      expect(server.connections).toHaveLength(1);
    }

    await post(server.url);

    expect(server.connections).toHaveLength(2);
  });

  it('is given up soon when the rest of an answer does not come, long before the deadline (R-26)', async () => {
    const server = await serve((socket) => socket.write(`${HEAD}content-length: 5\r\n\r\n`));

    const result = await build()(server.url, { deadlineMs: 60_000, keepBody: false });

    expect(result).toMatchObject({ statusCode: 200 });
    await until(() => server.openConnections() === 0);
  });

  it('is not offered for more requests when a close follows its notice of a time-out (R-21)', async () => {
    const server = await serve(NOTICE);
    const { connection, happened } = await attached(server.port, () => 0);
    const exchange = anExchange();

    connection.begin(exchange, { wasIdle: true });

    await until(() => happened.includes('stale'));
    await holdsFor(200, () => !happened.includes('free'));
    exchange.abort();
  });

  it('is not ended by the deadline of a request that it has answered, though the next one is on its way', async () => {
    const server = await serve(() => undefined);
    const { connection, receive } = await attached(server.port, () => 0);
    const results: EgressResult[] = [];
    const [answered, next] = [anExchange(), anExchange((result) => results.push(result))];
    connection.begin(answered, { wasIdle: false });
    receive(`${HEAD}content-length: 0\r\n\r\n`);
    connection.begin(next, { wasIdle: true });

    // Its timer had run when the response was read.
    answered.expire();

    await until(() => server.openConnections() === 1);
    await holdsFor(100, () => server.openConnections() === 1);
    receive('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n');
    expect(results).toMatchObject([{ statusCode: 202 }]);
  });

  it('that said 408 and closed has not answered a request that waits for another until its deadline (R-21)', async () => {
    const queue = { leave: () => undefined, isWithoutTurn: () => false };
    const notice = { type: 'response', statusCode: 408, headers: {}, body: Buffer.alloc(0), truncated: true } as const;
    const result = new Promise<EgressResult>((resolve) => {
      const exchange = anExchange(resolve, 20);
      exchange.start({ responseSoFar: () => notice, cut: () => undefined });
      exchange.waitAgainIn(queue);
    });
    expect(await result).toEqual({ type: 'error', errorCode: 'timeout', detail: 'no response within 20 ms' });
  });

  it('that is opened and not needed is offered for 4 s, as the server has not said for how long it stays', async () => {
    const server = await serve(answerOk);
    let nowMs = 10_000;
    const { connection } = await attached(server.port, () => nowMs);
    nowMs += 3_999;
    expect(connection.isUsable()).toBe(true);
    nowMs += 1;
    expect(connection.isUsable()).toBe(false);
  });
});

describe('a 408 on an idle connection, read late because the event loop was blocked (R-21)', () => {
  const status = 'HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n';

  it.each([
    ['says that it closes', 'connection: close\r\n'],
    ['is followed by a close', ''],
  ])('is no answer when it %s: the request goes out again', async (_case, line) => {
    let passedMs = 0;
    const server = await serve((socket, number) => {
      if (number === 2) {
        passedMs += 60_000;
        socket.end(`${status}${line}\r\n`);
      } else answerOk(socket, number);
    });
    const post = build({ monotonicMs: () => passedMs, maxConnectionAgeMs: 600_000 });
    await post(server.url);

    expect(await post(server.url)).toMatchObject({ statusCode: 200 });
    expect(server.requests).toHaveLength(3);
  });

  it('is no answer when the close that follows it has waited meanwhile', async () => {
    const server = await serve((socket) => socket.write(`${status}\r\n`));
    const { connection, happened } = await attached(
      server.port,
      () => 0,
      () => {
        for (const socket of server.connections) socket.destroy();
        blockFor(200);
      },
    );
    const exchange = anExchange();

    connection.begin(exchange, { wasIdle: true });

    await until(() => happened.includes('closed'));
    expect(happened).toEqual(['closed', 'stale']);
    exchange.abort();
  });

  it('is no answer when it comes in too many pieces to be read to its end', async () => {
    const server = await serve(() => undefined);
    const { connection, happened, receive } = await attached(server.port, () => 0);
    const exchange = anExchange();
    connection.begin(exchange, { wasIdle: true });

    receive('HTTP/1.1 408 Request Timeout\r\nx: ');
    for (let count = 1; count < 1_024; count += 1) receive('x');

    await until(() => happened.includes('closed'));
    expect(happened).toEqual(['closed', 'stale']);
    exchange.abort();
  });
});
