import { afterEach, describe, expect, it } from '@jest/globals';
import { Counter, Registry } from 'prom-client';
import { BootError } from '../boot-error.js';
import type { PartStatus } from '../lifecycle/lifecycle.js';
import { type AdminServer, createAdminServer } from './admin-server.js';

const running: AdminServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

async function build(ready = true, port = 0) {
  const metrics = new Registry();
  new Counter({ name: 'pings_total', help: 'Pings.', registers: [metrics] }).inc(3);
  const parts: PartStatus[] = [{ name: 'task runner', state: 'started', ready }];
  const server = createAdminServer({ port, metrics, readiness: () => ({ ready, parts }) });
  running.push(server);
  const url = `http://127.0.0.1:${String(await server.start())}`;
  return { url, parts };
}

describe('createAdminServer (R-40)', () => {
  it('is live as soon as it listens', async () => {
    const { url } = await build(false);

    expect((await fetch(`${url}/health/live`)).status).toBe(200);
  });

  it.each([
    [true, 200, 'ready'],
    [false, 503, 'not ready'],
  ])('answers readiness %p with %p and the parts', async (ready, statusCode, status) => {
    const { url, parts } = await build(ready);

    const response = await fetch(`${url}/health/ready`);

    expect(response.status).toBe(statusCode);
    expect(await response.json()).toEqual({ status, parts });
  });

  it('serves the metrics of its registry', async () => {
    const { url } = await build();

    expect(await (await fetch(`${url}/metrics`)).text()).toContain('pings_total 3');
  });

  it('serves no other path and no writing method', async () => {
    const { url } = await build();

    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
  });

  it('names the variable to change when its port is taken', async () => {
    const { url } = await build();

    const failure = build(true, Number(new URL(url).port));

    await expect(failure).rejects.toBeInstanceOf(BootError);
    await expect(failure).rejects.toThrow(/is in use: set WAYPOST_ADMIN_PORT/);
  });
});
