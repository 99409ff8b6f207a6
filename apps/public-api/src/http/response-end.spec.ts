import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Response } from 'express';
import { until } from '../../../../test/support/until.js';
import { onResponseEnd } from './response-end.js';

let server: Server;
let responses: Response[];
let ended: string[];

beforeEach(async () => {
  responses = [];
  ended = [];
  server = createServer((request, response) => {
    responses.push(response as Response);
    onResponseEnd(response as Response, () => ended.push(request.url ?? ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function send(...paths: string[]) {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  for (const path of paths) socket.write(`GET ${path} HTTP/1.1\r\nHost: api\r\n\r\n`);
  return socket;
}

describe('the end of a response', () => {
  it('has come once it has been sent, and comes once', async () => {
    const socket = send('/1');
    await until(() => responses.length === 1);
    expect(ended).toEqual([]);
    responses[0]?.end();
    await until(() => ended.length === 1);
    socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    expect(ended).toEqual(['/1']);
  });

  it('has come when its connection has gone, also for one that waits behind others', async () => {
    const socket = send('/1', '/2', '/3');
    await until(() => responses.length === 3);
    responses[1]?.end('done');
    socket.destroy();
    await until(() => ended.length === 3);
    expect(ended.toSorted()).toEqual(['/1', '/2', '/3']);
  });

  it('has come for a response whose connection went before anyone asked', async () => {
    const socket = send('/1');
    await until(() => responses.length === 1);
    socket.destroy();
    await until(() => ended.length === 1);
    let isOver = false;
    onResponseEnd(responses[0] as Response, () => (isOver = true));
    expect(isOver).toBe(true);
  });
});
