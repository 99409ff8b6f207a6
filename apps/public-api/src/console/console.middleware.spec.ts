import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { serveConsole, servePortal } from './console.middleware.js';

const FRAMED = '3f2b0c7e-9a51-4d2e-8c34-0f6d1f1b7a10';
const CLOSED = '7c1d5b2a-1111-4d2e-8c34-0f6d1f1b7a10';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const SESSION = '9d9db1c4-0a55-4a43-a7a3-0f6d1f1b7a10';
const PORTALS = new Map([
  [
    FRAMED,
    { frameAncestors: ['https://app.example.com', 'https://b.example'], logoUrl: 'https://cdn.example/l.png?a;b' },
  ],
  [CLOSED, { frameAncestors: [], logoUrl: 'data:image/png;base64,AAAA' }],
]);

const TILES = {
  url: 'https://tiles.example:8443/{z}/{x}/{y}.png',
  origin: 'https://tiles.example:8443',
  attribution: '© Example',
};

let folder: string;
let server: Server;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<title>Waypost</title>');
  writeFileSync(join(folder, 'assets', 'index-abc.js'), 'start();');
  const app = express();
  app.use('/with-tiles', serveConsole(folder, TILES));
  app.use(serveConsole(folder, null));
  app.use((_request, response, next) => {
    // As the API's own headers are, which come first.
    response.set('x-frame-options', 'SAMEORIGIN');
    next();
  });
  app.use(servePortal(folder, TILES, (portalId) => Promise.resolve(PORTALS.get(portalId) ?? null)));
  app.use('/unbuilt', serveConsole(join(folder, 'nowhere'), null));
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
  it.each([
    ...['/', '/deliveries', '/deliveries?status=failed', '/deliveries/0b0e8f0a', '/subscriptions/new'],
    // For an operator: of the installation, and of one fleet.
    ...['/fleets', '/topics', '/partitions', '/fleets/acme.eu/', '/fleets/acme.eu/deliveries/0b0e8f0a'],
  ])('is the same document at %s', async (path) => {
    const response = await fetch(url + path);
    expect([response.status, await response.text()]).toEqual([200, '<title>Waypost</title>']);
    expect(response.headers.get('cache-control')).toBe('no-cache');
  });

  it('runs only its own scripts, in no frame, and shows payloads that could not load anything', async () => {
    const policy = (await fetch(url)).headers.get('content-security-policy');
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "connect-src 'self'"])
      expect(policy?.split('; ')).toContain(rule);
    expect(policy).not.toContain('unsafe');
  });

  it('loads images from its own host only, and tiles of maps from the one that is configured', async () => {
    const policies = ['/', '/with-tiles/vehicles', '/with-tiles/assets/index-abc.js'].map(async (path) => {
      const policy = (await fetch(url + path)).headers.get('content-security-policy')?.split('; ');
      return policy?.filter((rule) => rule.includes('tiles') || rule.startsWith('img-src'));
    });
    const withTiles = ["img-src 'self' https://tiles.example:8443"];
    expect(await Promise.all(policies)).toEqual([["img-src 'self'"], withTiles, withTiles]);
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

  it.each([
    ['/nothing', '<title>Waypost</title>'],
    ['/deliveries/a/b', '<title>Waypost</title>'],
    ['/public/v2/nothing', 'the API'],
    ['/health', 'the API'],
    ['/favicon.ico', 'the API'],
  ])('answers a person who looks for %s, where there is nothing, with 404 and %s', async (path, body) => {
    const response = await fetch(url + path, { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect([response.status, await response.text()]).toEqual([404, body]);
  });

  it('leaves what is not read to the API', async () => {
    expect((await fetch(url, { method: 'POST' })).status).toBe(404);
  });

  it('leaves everything to the API while it is not built', async () => {
    expect((await fetch(`${url}/unbuilt/deliveries`)).status).toBe(404);
  });
});

describe('the portal of a fleet (R-42)', () => {
  async function policyOf(path: string): Promise<string[]> {
    const response = await fetch(url + path);
    expect([response.status, await response.text()]).toEqual([200, '<title>Waypost</title>']);
    return response.headers.get('content-security-policy')?.split('; ') ?? [];
  }

  it.each(['', '/', '/deliveries', '/subscriptions/0b0e8f0a', `/${SESSION}`, `/${SESSION}/deliveries/0b0e8f0a`])(
    'is the console below its own address: %s',
    async (rest) => {
      const policy = await policyOf(`/portal/${FRAMED}${rest}`);
      expect(policy).toContain('frame-ancestors https://app.example.com https://b.example');
      expect(policy).toContain("img-src 'self' https://cdn.example https://tiles.example:8443");
      expect(policy).toContain("script-src 'self'");
    },
  );

  it('is shown in a frame by the pages that the fleet names, and by no header that forbids it', async () => {
    expect((await fetch(`${url}/portal/${FRAMED}`)).headers.get('x-frame-options')).toBeNull();
  });

  it.each([CLOSED, UNKNOWN])('is shown in no frame unless the fleet names one: %s', async (portalId) => {
    const response = await fetch(`${url}/portal/${portalId}`);
    expect(response.headers.get('content-security-policy')?.split('; ')).toContain("frame-ancestors 'none'");
    expect(response.headers.get('x-frame-options')).toBe('DENY');
  });

  it('takes a logo that it has itself', async () => {
    expect(await policyOf(`/portal/${CLOSED}`)).toContain("img-src 'self' data: https://tiles.example:8443");
  });

  it.each([
    ...['/portal', '/portal/x', `/portal/${FRAMED}/public/v2/events`, `/portal/${FRAMED}/index.html`],
    ...[`/portal/${FRAMED}/${SESSION}/${SESSION}`, `/portal/${FRAMED}/${SESSION}/public/v2/events`],
  ])('leaves %s to the API', async (path) => expect((await fetch(url + path)).status).toBe(404));
});
