import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { Registry } from 'prom-client';
import { until } from '../../../../test/support/until.js';
import { createRouteOf } from '../http/route-table.middleware.js';
import { measureRequests } from './request-metrics.middleware.js';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function build() {
  const registry = new Registry();
  const routeOf = createRouteOf(['/things/{id}', '/things']);
  let clockMs = 0;
  const app = new ExpressAdapter().getInstance<Express>();
  app.use(measureRequests({ registry, routeOf, monotonicMs: () => (clockMs += 20) }));
  app.get('/things/silent', () => undefined);
  app.get('/things/busy', (_request, response) => void response.status(429).end());
  app.get('/things/:id', (_request, response) => void response.json({}));
  server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((listening) => server?.once('listening', listening));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;

  /** The series of a metric, once there are as many. */
  function series(name: string, count: number): Promise<string[]> {
    return until(async () => {
      const found = (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));
      return found.length >= count && found.sort();
    });
  }
  return {
    url,
    port,
    series,
    send: async (path: string, method = 'GET') => (await fetch(url + path, { method })).text(),
  };
}

const COUNT = 'waypost_http_request_duration_seconds_count';

describe('the metrics of requests', () => {
  it('are counted by route, method and status, without the ids in the path', async () => {
    const { send, series } = await build();
    await send('/things/1');
    await send('/things/2');
    await send('/things', 'POST');
    expect(await series(COUNT, 2)).toEqual([
      `${COUNT}{route="/things",method="POST",status="404"} 1`,
      `${COUNT}{route="/things/{id}",method="GET",status="200"} 2`,
    ]);
    expect(await series('waypost_http_request_duration_seconds_sum', 2)).toEqual([
      expect.stringMatching(/ 0\.02$/),
      expect.stringMatching(/ 0\.04$/),
    ]);
  });

  it('do not grow with what clients make up', async () => {
    const { send, series } = await build();
    for (const path of ['/a', '/b', '/c?d']) await send(path);
    expect(await series(COUNT, 1)).toEqual([`${COUNT}{route="other",method="GET",status="404"} 3`]);
  });

  it('count what was rate-limited', async () => {
    const { send, series } = await build();
    await send('/things/busy');
    expect(await series('waypost_http_rate_limited_total{', 1)).toEqual([
      'waypost_http_rate_limited_total{route="/things/{id}"} 1',
    ]);
  });

  it('tell a client that left before its answer', async () => {
    const { port, series } = await build();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /things/silent HTTP/1.1\r\nhost: a\r\n\r\n');
    setTimeout(() => socket.destroy(), 50);
    expect(await series(COUNT, 1)).toEqual([`${COUNT}{route="/things/{id}",method="GET",status="499"} 1`]);
  });
});
