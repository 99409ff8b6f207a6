import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { visitConsole } from '../support/console-visit.js';
import { pageProblems } from '../support/page-problems.js';
import { startWaypost, type Waypost } from '../support/start-waypost.js';
import { until } from '../support/until.js';

const fleet = 'console-map-tiles';
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
/** Whether an image of another origin was drawn: browsers do not let a page read that. */
const HAS_TILES = `(() => {
  const canvas = document.querySelector('.map canvas');
  try {
    canvas.getContext('2d').getImageData(0, 0, 1, 1);
    return false;
  } catch (error) {
    return error.name === 'SecurityError';
  }
})()`;
const asked: string[] = [];
const referrers: (string | undefined)[] = [];
let tiles: Server;
let origin: string;
let waypost: Waypost;
const browser = startBrowser();

/** Starts a product of its own for one optional setting: with npm run test:long. */
const describeLong = process.env['WAYPOST_LONG_TESTS'] === undefined ? describe.skip : describeInBrowser;

describeLong('The tiles of the maps', () => {
  beforeAll(async () => {
    tiles = createServer(({ url = '', headers }, response) => {
      asked.push(url);
      referrers.push(headers.referer);
      response.writeHead(200, { 'content-type': 'image/png' }).end(PIXEL);
    }).listen(0, '127.0.0.1');
    await until(() => expect(tiles.listening).toBe(true));
    origin = `http://127.0.0.1:${String((tiles.address() as AddressInfo).port)}`;
    const env = {
      WAYPOST_MAP_TILE_URL: `${origin}/t/{z}/{x}/{y}.png?key=k`,
      WAYPOST_MAP_ATTRIBUTION: '© Example maps',
    };
    waypost = await startWaypost({ env });
    await waypost.createFleet(fleet);
    const shape = { type: 'circle', center: { latitude: 52.1, longitude: 11.6 }, radiusInMeters: 900 };
    await waypost.api(fleet, 'POST', '/public/v1/geofences', { name: 'Depot', shape });
  }, 300_000);

  afterAll(async () => {
    await waypost.stop();
    tiles.close();
  });

  it('come from the configured server alone, below what the console draws, with who made them', async () => {
    const { context, page, problems, address, open } = await visitConsole(browser(), waypost, fleet);
    const files: string[] = [];
    page.on('request', (request) => files.push(request.url()));
    await open('/overview');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(files.filter((url) => /tile/.test(url))).toEqual([]);

    await open('/vehicles');
    await until(async () => expect(await page.evaluate(HAS_TILES)).toBe(true));
    await page.getByText('© Example maps').waitFor();
    expect(asked.length).toBeGreaterThan(0);
    for (const url of asked) expect(url).toMatch(/^\/t\/\d+\/\d+\/\d+\.png\?key=k$/);
    // Enough for servers that ask who it is for, and no path: that of a portal has the id of the session.
    expect(new Set(referrers)).toEqual(new Set([address('/')]));
    expect(problems).toEqual([]);

    // The policy has this origin and no other.
    const refusal = page.waitForEvent('console', (message) => message.text().includes('Content Security Policy'));
    await page.evaluate("void (new Image().src = 'http://127.0.0.1:9/another.png')");
    expect((await refusal).text()).toContain(`img-src 'self' ${origin}`);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await pageProblems(page)).toEqual([]);
    await context.close();
  });
});
