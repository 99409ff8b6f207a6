import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { writeBusyHistory } from '../support/busy-history.js';
import { overflowOf, pageProblems } from '../support/page-problems.js';
import { runningWaypost } from '../support/running-waypost.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleets = ['operated.first', 'operated.second'] as const;
const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let context: BrowserContext;
let page: Page;
let adminKey: string;
/** Every page that polls does so within this time. */
const A_READ_LATER_MS = 15_000;

function address(path: string): string {
  return new URL(path, waypost.info().apiUrl).href;
}

async function open(path: string): Promise<void> {
  await page.goto(`${address(path)}#key=${adminKey}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
}

describeInBrowser('The console of an operator (R-37, R-38)', () => {
  beforeAll(async () => {
    for (const fleet of fleets) await waypost.createFleet(fleet);
    const keys = JSON.parse(await readFile(join(waypost.dataDir, 'keys.json'), 'utf8')) as { adminKey: string };
    ({ adminKey } = keys);
    context = await browser().newContext({ locale: 'en-GB' });
    page = await context.newPage();
  }, 60_000);

  it('finds a fleet, shows its pages below its own address, and switches to another one', async () => {
    await open('/');
    expect(page.url()).toBe(address('/fleets'));
    await page.getByLabel('Find a fleet by its id or name').fill('operated.F');
    await page.getByRole('link', { name: fleets[0] }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(address(`/fleets/${fleets[0]}/overview`));
    await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
    await page.getByText('No subscription yet').waitFor();

    await page.getByRole('button', { name: `Fleet: ${fleets[0]}` }).click();
    await page.getByLabel('Fleet', { exact: true }).fill('second');
    await page.getByRole('link', { name: fleets[1] }).click();
    await page.getByRole('button', { name: `Fleet: ${fleets[1]}` }).waitFor();
    expect(page.url()).toBe(address(`/fleets/${fleets[1]}/subscriptions`));
    await page.reload();
    await page.getByText('No subscription yet').waitFor();
    expect(await pageProblems(page)).toEqual([]);
  });

  it('shows how all fleets fare, the worst first, and leads into a fleet (R-41)', async () => {
    const answers = { [fleets[0]]: 422, [fleets[1]]: 200 };
    for (const [fleetId, answer] of Object.entries(answers)) {
      const url = `https://${fleetId}.example/hooks`;
      const endpoint = { subscriptionId: randomUUID(), eventType: 'position', url, perMinute: 4, answer: () => answer };
      const busy = { fleetId, endpoints: [endpoint], nowMs: Date.now(), minutes: 30 };
      await writeBusyHistory(waypost.info().databaseUrl, busy);
    }
    await open('/fleets');
    await page.getByRole('term').filter({ hasText: 'Deliveries per minute' }).waitFor();
    const [first, second] = fleets.map((fleet) => page.getByRole('row').filter({ hasText: fleet }));
    await until(async () => {
      expect(await first?.innerText()).toMatch(/operated\.first\s+\d[\d.]*\s+\d+\s+0 %/);
      expect(await second?.innerText()).toMatch(/operated\.second\s+\d[\d.]*\s+\d+\s+100 %\s+0\s+0/);
    });
    await page.getByText(/the worst first, counted since \d\d:\d\d/).waitFor();
    const order = await page.getByRole('row').allInnerTexts();
    const placeOf = (fleet: string) => order.findIndex((text) => text.includes(fleet));
    expect(placeOf(fleets[0])).toBeLessThan(placeOf(fleets[1]));
    expect(await pageProblems(page)).toEqual([]);

    await page.getByRole('button', { name: '24 hours' }).click();
    await page.waitForURL(address('/fleets?range=day'));
    await first?.getByRole('link').nth(1).click();
    await page.waitForURL(/\/fleets\/operated\.first\/deliveries\?status=failed&from=[^&]*%3A00%3A00\.000Z$/);
    await page.locator('[data-row]').first().waitFor();
    await page.goBack();
    await page.getByRole('link', { name: fleets[0], exact: true }).click();
    await page.waitForURL(address(`/fleets/${fleets[0]}/overview?range=day`));
  });

  it.each([360, 1_440])('fits its fleets into a screen of %d px', async (width) => {
    await page.setViewportSize({ width, height: 800 });
    await open('/fleets');
    await page.getByRole('row').nth(1).waitFor();
    expect(await overflowOf(page)).toEqual([]);
    await page.setViewportSize({ width: 1_280, height: 720 });
  });

  it('keeps the list of fleets where their figures cannot be read', async () => {
    await page.route('**/public/v2/fleets/**', (route) => route.abort());
    await open('/fleets');
    await page.getByText('The figures could not be read.').waitFor();
    await page.getByRole('link', { name: fleets[0], exact: true }).waitFor();
    expect(await page.locator('.figures').count()).toBe(0);
    await page.unroute('**/public/v2/fleets/**');
  });

  it('keeps the saved filters of each fleet apart', async () => {
    await open(`/fleets/${fleets[0]}/deliveries?status=failed`);
    await page.getByRole('button', { name: 'Saved filters', exact: true }).click();
    await page.getByLabel('Name of this filter').fill('Refused');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Saved filters (1)' }).waitFor();
    await open(`/fleets/${fleets[1]}/deliveries`);
    await page.getByRole('button', { name: 'Saved filters', exact: true }).waitFor();
    await open(`/fleets/${fleets[0]}/deliveries`);
    await page.getByRole('button', { name: 'Saved filters (1)' }).waitFor();
  });

  it('says that it has read only the first of very many fleets', async () => {
    let made = 0;
    await page.route('**/public/v1/fleets?*', (route) => {
      const data = Array.from({ length: 200 }, () => ({
        id: `many-${String(made++)}`,
        payloadFormat: 'v2',
        routes: false,
      }));
      return route.fulfill({ json: { data, nextPageState: 'more' } });
    });
    await open('/fleets');
    await page.getByText('These are the first 2,000 fleets.').waitFor();
    await page.getByLabel('Find a fleet by its id or name').fill('of nobody');
    await page.getByText('None of the first 2,000 fleets has this').waitFor();
    expect(await pageProblems(page)).toEqual([]);
    await page.unroute('**/public/v1/fleets?*');
  });

  it.each([
    ['topics', 'webhook-delivery.fan-out'],
    ['partitions', 'No partition is parked'],
  ])('keeps the %s while the API does not respond, and says how old they are', async (path, text) => {
    const resource = path === 'topics' ? '**/public/v1/topics' : '**/public/v1/tasks';
    await page.clock.install();
    await open(`/${path}`);
    await page.getByText(text).first().waitFor();
    await page.route(resource, (route) => route.abort());
    await page.clock.fastForward(A_READ_LATER_MS);
    await page.getByRole('status').filter({ hasText: 'Not updated since' }).waitFor();
    expect(await page.getByText(text).count()).toBeGreaterThan(0);
    await page.unroute(resource);
    await page.clock.fastForward(A_READ_LATER_MS);
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('shows the topics of the installation with their consumers, all of whose partitions are owned (R-45)', async () => {
    await open('/topics');
    const row = page.getByRole('row').filter({ hasText: 'webhook-delivery.fan-out' });
    await until(async () => expect(await row.textContent()).toMatch(/fleet\.events.*16 days.*fan-out[1-9]/));
    expect(await pageProblems(page)).toEqual([]);
  });

  it('skips a record of a parked partition only with a reason, and says what an instance answers (R-45)', async () => {
    const parked = {
      code: 'PROCESSING_FAILED',
      topic: 'webhook.replays',
      offset: 7,
      message: 'no such thing',
      since: '2026-05-04T08:00:00.000Z',
    };
    const place = { topic: 'fleet.events', partition: 0, instance: 'http://127.0.0.1:1' };
    const task = { task: 'webhook-delivery.fan-out:0', group: 'webhook-delivery.fan-out', state: 'parked', ...place };
    const unanswered = [{ instance: 'http://127.0.0.1:2', reason: 'does not respond: refused' }];
    // A real one cannot be had in a stack that others use. The command goes to the real API, where nothing is parked.
    await page.route('**/public/v1/tasks', (route) =>
      route.fulfill({ json: { data: [{ ...task, parked }], unanswered } }),
    );
    await open('/partitions');
    await page.getByText('no such thing').waitFor();
    await page.getByText('does not respond: refused').waitFor();
    expect(await pageProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Skip the record' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('webhook-delivery.fan-out:0, offset 7').waitFor();
    const sent = page.waitForRequest('**/commands');
    await dialog.getByLabel('Reason').fill('A record of a load test');
    // Meanwhile a colleague has skipped the record.
    parked.offset = 8;
    await page.getByRole('definition').filter({ hasText: /^8$/ }).waitFor();
    await dialog.getByRole('button', { name: 'Skip the record' }).click();
    const record = { topic: 'webhook.replays', offset: 7 };
    expect((await sent).postDataJSON()).toEqual({ command: 'skip', ...record, reason: 'A record of a load test' });
    await dialog.getByRole('alert').filter({ hasText: 'It is not parked.' }).waitFor();
  });
});
