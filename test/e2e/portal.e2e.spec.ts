import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { choosePort } from '../../tools/dev-stack/free-port.js';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { pageProblems } from '../support/page-problems.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';
import { type RunningExample, startExample } from './example-toolchains.js';

const fleet = 'portal';
const waypost = runningWaypost(sharedDataDir());

const browser = startBrowser();
let context: BrowserContext;
let page: Page;
let host: RunningExample;
const servers: Server[] = [];
let hostUrl: string;
let subscriptionIds: string[];

async function api(method: string, path: string, body?: object): Promise<Response> {
  const { apiUrl, apiKeys } = waypost.info();
  const headers = { authorization: `Bearer ${apiKeys[fleet] ?? ''}`, 'content-type': 'application/json' };
  return fetch(new URL(path, apiUrl), { method, headers, ...(body && { body: JSON.stringify(body) }) });
}

interface Created {
  readonly id: string;
  readonly link: string;
}

async function createSession(more: object = {}): Promise<Created> {
  const scopes = ['events:read', 'subscriptions:read'];
  return (await (await api('POST', '/public/v1/portal-sessions', { scopes, ...more })).json()) as Created;
}

/** The origin of a page of somebody, with these in frames. */
async function pageWith(links: readonly string[]): Promise<string> {
  const frames = links.map((link) => `<iframe src="${link}"></iframe>`).join('');
  const server: Server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>Elsewhere</title>${frames}`);
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await until(() => expect(server.listening).toBe(true));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

describeInBrowser('The portal (R-42)', () => {
  beforeAll(async () => {
    await waypost.createFleet(fleet);
    const url = 'http://127.0.0.1:9/portal';
    const made = await subscribe(waypost, { fleet, url, types: ['position', 'ignition_on'] });
    subscriptionIds = made.map(({ id }) => id);
    const port = String(await choosePort());
    hostUrl = `http://127.0.0.1:${port}`;
    const { apiUrl, apiKeys } = waypost.info();
    const example = { file: process.execPath, args: ['host.mjs'], cwd: join(process.cwd(), 'examples', 'portal-host') };
    host = startExample(example, { WAYPOST_URL: apiUrl, WAYPOST_API_KEY: apiKeys[fleet] ?? '', PORT: port });
    await until(() => expect(host.lines.join('\n')).toContain('Open'));
  }, 120_000);

  afterAll(() => {
    host.stop();
    for (const server of servers) server.close();
  });

  beforeEach(async () => {
    context = await browser().newContext({ locale: 'en-GB' });
    page = await context.newPage();
  });

  afterEach(async () => {
    await context.close();
  });

  it('is shown in a frame of the page that the fleet names, in the color of the fleet', async () => {
    await page.goto(hostUrl);
    const portal = page.frameLocator('iframe');
    await portal.getByRole('heading', { name: 'Overview' }).waitFor();
    const places = portal.getByRole('navigation').getByRole('link');
    await until(async () =>
      expect(await places.allTextContents()).toEqual(['Overview', 'Deliveries', 'Subscriptions']),
    );
    const frame = page.frames()[1];
    expect(frame?.url()).toMatch(/\/portal\/[0-9a-f-]{36}\/[0-9a-f-]{36}\/overview$/);
    const accent = await frame?.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent')");
    expect(accent).toContain('#0f766e');
    await portal.getByRole('link', { name: 'Subscriptions' }).click();
    await portal.getByRole('link', { name: 'position' }).first().waitFor();
  });

  it('is shown in no frame of another page', async () => {
    const { link } = await createSession();
    const origin = await pageWith([link]);
    await page.goto(origin);
    await until(() => expect(page.frames()[1]?.url()).toMatch(/^chrome-error:/));
    // The code was not used by the page that was not shown.
    await page.goto(link);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('keeps two sessions of the fleet apart in two frames of one page, which can use neither', async () => {
    const links: string[] = [];
    for (const id of subscriptionIds) links.push((await createSession({ subscriptionIds: [id] })).link);
    const origin = await pageWith(links);
    await api('PATCH', '/public/v1/fleet/portal', { frameAncestors: [hostUrl, origin] });
    await page.goto(origin);
    const [one, other] = page.frames().slice(1);
    if (!one || !other) throw new Error('The page has no two frames.');
    for (const frame of [one, other]) await frame.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const [frame, own, foreign] of [
      [one, 'position', 'ignition_on'],
      [other, 'ignition_on', 'position'],
    ] as const) {
      await frame.getByRole('link', { name: 'Subscriptions' }).click();
      await frame.getByRole('link', { name: own }).waitFor();
      // From here on it has only its storage to go by.
      await frame.evaluate('window.isBefore = true; location.reload()');
      await until(async () => expect(await frame.evaluate('window.isBefore')).toBeUndefined());
      await frame.getByRole('link', { name: own }).waitFor();
      expect(await frame.getByRole('link', { name: foreign }).count()).toBe(0);
    }
    expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual([]);
    const reaching =
      '(() => { try { return frames[0].sessionStorage.length; } catch (error) { return error.name; } })()';
    expect(await page.evaluate(reaching)).toBe('SecurityError');
  });

  it('shows the saved filters and the resends of a session to none that sees other subscriptions', async () => {
    const scopes = ['events:read', 'subscriptions:read', 'subscriptions:write'];
    const openPortal = async (ids: readonly string[]) => {
      await page.goto((await createSession({ scopes, subscriptionIds: ids })).link);
      await page.getByRole('link', { name: 'Deliveries' }).click();
    };
    const replay = { replayId: 'r-1', series: 1, state: 'running', progress: { sent: 0, matched: 3 } };
    await page.route('**/resendable?*', (route) => route.fulfill({ json: { deliveries: 3, hasMore: false } }));
    await page.route('**/replays', (route) => route.fulfill({ status: 201, json: replay }));
    await page.route('**/replays/r-1', (route) => route.fulfill({ json: replay }));
    const [own = '', foreign = ''] = subscriptionIds;

    await openPortal([own]);
    await page.getByRole('button', { name: 'Saved filters', exact: true }).click();
    await page.getByLabel('Name of this filter').fill('Mine');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText('3 deliveries to 1 subscription').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Resend', exact: true }).click();
    await page.getByText('0 of 3 deliveries passed to the sender').waitFor();

    for (const ids of [[foreign], [own, foreign]]) {
      await openPortal(ids);
      await page.getByRole('button', { name: 'Saved filters', exact: true }).waitFor();
      await page.getByRole('link', { name: 'Past resends' }).click();
      await page.getByText('Nothing was resent from this browser').waitFor();
    }

    await openPortal([own]);
    await page.getByRole('button', { name: 'Saved filters (1)' }).click();
    await page.getByRole('link', { name: 'Mine' }).waitFor();
    // Its address would end with this session.
    expect(await page.getByRole('button', { name: 'Copy link' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Past resends' }).click();
    await page.getByText('0 of 3 deliveries passed to the sender').waitFor();
  });

  it('opens once, and keeps its session for the tab without a code in the address', async () => {
    const { link } = await createSession();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).not.toContain('#');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const other = await browser().newContext({ locale: 'en-GB' });
    const again = await other.newPage();
    await again.goto(link);
    await again.getByText('This link was used before').waitFor();
    expect(await other.cookies()).toEqual([]);
    await other.close();
  });

  it('shows the subscriptions of its link and no others, and offers nothing that takes all of the fleet', async () => {
    const scopes = ['events:read', 'subscriptions:read', 'subscriptions:write'];
    const { link } = await createSession({ scopes, subscriptionIds: subscriptionIds.slice(0, 1) });
    await page.goto(link);
    await page.getByRole('link', { name: 'Subscriptions' }).click();
    await page.getByRole('link', { name: 'position' }).first().waitFor();
    expect(await page.getByRole('link', { name: 'ignition_on' }).count()).toBe(0);
    await until(async () => expect(await page.getByRole('link', { name: 'New subscription' }).count()).toBe(0));
    await page.getByRole('link', { name: 'position' }).first().click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
  });

  it('tells a customer nothing that takes a shell on the machine of Waypost', async () => {
    const { link } = await createSession();
    await page.goto(link);
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByText('Nothing has been delivered in this range').waitFor();
    expect(await page.getByText('npm run').count()).toBe(0);
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByText('Waiting for the next attempt').waitFor();
    expect(await page.getByText('npm run').count()).toBe(0);
    await page.getByRole('button', { name: 'History' }).click();
    await page.getByRole('main').getByRole('link', { name: 'Go to the subscriptions' }).click();
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
  });

  it('opens with the same link after the service did not respond', async () => {
    const { link } = await createSession();
    await page.route('**/portal-sessions/exchange', (route) => route.fulfill({ status: 503 }), { times: 1 });
    await page.goto(link);
    await page.getByText('the service does not respond').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('lasts as long as the service says, on a device whose clock is hours ahead', async () => {
    const { link } = await createSession();
    await page.addInitScript('const now = Date.now; Date.now = () => now() + 2 * 3_600_000');
    await page.goto(link);
    await page.getByRole('link', { name: 'Deliveries' }).click();
    // Known from the same answer as its end.
    await until(async () => expect(await page.getByRole('link', { name: 'Vehicles' }).count()).toBe(0));
    await page.reload();
    await page.getByText('Nothing has been delivered in this range').waitFor();
    expect(await page.getByText('Your session has ended.').count()).toBe(0);
  });

  it('opens also where the browser denies storage to it, as in a frame of another site', async () => {
    const denied = "{ get() { throw new DOMException('The operation is insecure.', 'SecurityError') } }";
    const names = "['sessionStorage', 'localStorage', 'BroadcastChannel']";
    await page.addInitScript(`for (const name of ${names}) Object.defineProperty(window, name, ${denied})`);
    const { link } = await createSession();
    await page.goto(link);
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('button', { name: 'Saved filters', exact: true }).waitFor();
    await page.getByText('Nothing has been delivered in this range').waitFor();
  });

  it('says that it has ended when it is revoked, and where to go', async () => {
    const { id, link } = await createSession({ returnUrl: `${hostUrl}/webhooks` });
    await page.goto(link);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await api('DELETE', `/public/v1/portal-sessions/${id}`);
    await page.getByText('Your session has ended.').waitFor();
    expect(await page.getByRole('link', { name: 'Go back' }).getAttribute('href')).toBe(`${hostUrl}/webhooks`);
  });

  it('has the logo of the fleet in place of ours, as wide as there is room for it, on a small dark screen', async () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="100"><rect width="4000" height="100"/></svg>';
    const logoUrl = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
    await api('PATCH', '/public/v1/fleet/portal', { logoUrl, brandColor: '#7c2d12', colorScheme: 'dark' });
    const { link } = await createSession();
    await page.setViewportSize({ width: 360, height: 800 });
    await page.goto(link);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const logo = page.getByRole('link', { name: 'Overview' }).getByRole('img');
    await logo.waitFor();
    expect(await page.title()).toBe('Overview');
    expect([
      await page.locator('header img').count(),
      await page.locator('header').getByText('Waypost').count(),
    ]).toEqual([1, 0]);
    expect(await page.evaluate("getComputedStyle(document.querySelector('.brand'), '::before').content")).toBe('none');
    expect(await page.locator('.mark').count()).toBe(0);
    // The device prefers the light one.
    const ground = await page.evaluate("getComputedStyle(document.querySelector('header')).backgroundColor");
    expect(ground).toBe('rgb(20, 28, 26)');
    expect((await logo.boundingBox())?.width).toBeLessThan(200);
    expect(await pageProblems(page)).toEqual([]);
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByText('Nothing has been delivered in this range').waitFor();
    expect(await pageProblems(page)).toEqual([]);
  });
});
