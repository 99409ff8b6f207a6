import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { serveConsole } from './console.middleware.js';

let folder: string;
let server: Server;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<title>Waypost</title>');
  writeFileSync(join(folder, 'assets', 'index-abc.js'), 'start();');
  const app = express();
  app.use(serveConsole(folder));
  app.use('/unbuilt', serveConsole(join(folder, 'nowhere')));
  app.use((_request, response) => void response.status(404).send('the API'));
  server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

describe('the console', () => {
  it.each(['/', '/deliveries', '/deliveries?status=failed', '/deliveries/0b0e8f0a', '/subscriptions/new'])(
    'is the same document at %s',
    async (path) => {
      const response = await fetch(url + path);
      expect([response.status, await response.text()]).toEqual([200, '<title>Waypost</title>']);
      expect(response.headers.get('cache-control')).toBe('no-cache');
    },
  );

  it('runs only its own scripts, in no frame, and shows payloads that could not load anything', async () => {
    const policy = (await fetch(url)).headers.get('content-security-policy');
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "connect-src 'self'"])
      expect(policy?.split('; ')).toContain(rule);
    expect(policy).not.toContain('unsafe');
  });

  it('lets browsers keep assets, whose names change with their content', async () => {
    const response = await fetch(`${url}/assets/index-abc.js`);
    expect([response.status, response.headers.get('cache-control')]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ]);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each([
    '/public/v2/events',
    '/public/v1/webhook-subscriptions',
    '/health/live',
    '/deliveries/a/b',
    '/../package.json',
  ])('leaves %s to the API', async (path) => {
    expect((await fetch(url + path)).status).toBe(404);
  });

  it('leaves what is not read to the API', async () => {
    expect((await fetch(url, { method: 'POST' })).status).toBe(404);
  });

  it('leaves everything to the API while it is not built', async () => {
    expect((await fetch(`${url}/unbuilt/deliveries`)).status).toBe(404);
  });
});
