import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { choosePort } from '../../../tools/dev-stack/free-port.js';
import { holdsFor, until } from '../../support/until.js';
import { type Link, openLink } from './link.js';

let echo: Server;
let accepted: Socket[];
let link: Link;
let port: number;
let client: Socket;
let received: string;

beforeEach(async () => {
  accepted = [];
  echo = createServer((socket) => {
    accepted.push(socket);
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  port = await choosePort();
  link = await openLink(port, (echo.address() as AddressInfo).port);
  client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  received = '';
  client.setEncoding('utf8').on('data', (text: string) => (received += text));
  client.on('error', () => undefined);
  client.write('hello ');
  await until(() => expect(received).toBe('hello '), { timeoutMs: 2_000 });
});
afterEach(async () => {
  client.destroy();
  await link.close();
  echo.close();
});

/** Not events.once, which rejects when an error comes before. */
function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    socket.once('close', () => {
      resolve();
    });
  });
}

describe('a link of the test network', () => {
  it('delays what passes, and keeps its order', async () => {
    link.shape({ delayMs: 100 });
    const sentAt = performance.now();
    client.write('slow ');
    client.write('world');
    await until(() => expect(received).toBe('hello slow world'), { timeoutMs: 2_000 });
    expect(performance.now() - sentAt).toBeGreaterThan(195);
  });

  it('passes no more bytes per second than the given rate', async () => {
    link.shape({ bytesPerSecond: 100_000 });
    const sentAt = performance.now();
    client.write('x'.repeat(50_000));
    await until(() => expect(received).toHaveLength(50_006), { timeoutMs: 5_000 });
    expect(performance.now() - sentAt).toBeGreaterThan(400);
  });

  it('swallows everything while it is a hole, and delivers it when it is healed', async () => {
    link.shape({ hole: true });
    client.write('later');
    await holdsFor(150, () => expect(received).toBe('hello '));
    link.heal();
    await until(() => expect(received).toBe('hello later'), { timeoutMs: 2_000 });
  });

  it('tells the broker only after the hole that a client has gone', async () => {
    link.shape({ hole: true });
    client.destroy();
    await holdsFor(150, () => expect(accepted.map(({ destroyed }) => destroyed)).toEqual([false]));
    link.heal();
    await until(() => expect(accepted.map(({ destroyed }) => destroyed)).toEqual([true]), { timeoutMs: 2_000 });
  });

  it('resets its connections when it is cut, and takes new ones', async () => {
    const closed = closeOf(client);
    link.cut();
    await closed;
    client = connect(port, '127.0.0.1');
    client.setEncoding('utf8').on('data', (text: string) => (received += text));
    client.write('again');
    await until(() => expect(received).toBe('hello again'), { timeoutMs: 2_000 });
  });

  it('resets a client when its broker is unreachable', async () => {
    echo.close();
    for (const socket of accepted) socket.destroy();
    await closeOf(client);
    client = connect(port, '127.0.0.1');
    client.on('error', () => undefined);
    await closeOf(client);
    expect(client.destroyed).toBe(true);
  });
});
