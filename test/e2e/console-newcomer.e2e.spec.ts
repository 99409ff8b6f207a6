import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { pageProblems } from '../support/page-problems.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const [fresh, used] = ['console-fresh', 'console-used'] as const;
/** As long as the API takes one, without a place to break it. */
const LONG = `<b onmouseover="window.wasRun=true">${'x'.repeat(90)}`;
const UNKNOWN = '11111111-1111-4111-8111-111111111111';
const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let receiver: Receiver;
let visit: ConsoleVisit;
let page: Page;
let subscriptionId: string;

async function publish(...deviceIds: string[]): Promise<void> {
  const eventTime = new Date().toISOString();
  await waypost.publish(
    used,
    deviceIds.map((deviceId) => ({ deviceId, latitude: 52.1, longitude: 11.6, speedInKmh: 30, eventTime })),
  );
}

async function visitFleet(fleet: string): Promise<void> {
  visit = await visitConsole(browser(), waypost, fleet);
  page = visit.page;
}

describeInBrowser('The console for somebody new', () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    for (const fleet of [fresh, used]) await waypost.createFleet(fleet);
    const url = receiver.url('/used');
    const [first] = await subscribe(waypost, { fleet: used, url, types: ['position', 'ignition_on'] });
    subscriptionId = first?.id ?? '';
    await publish('van-1', LONG);
    await until(async () => {
      const { data } = await waypost.api<{ data: object[] }>(used, 'GET', '/public/v2/events');
      expect(data).toHaveLength(2);
    });
  }, 120_000);

  afterAll(() => receiver.close());

  beforeEach(() => visitFleet(used));

  afterEach(async () => {
    await visit.context.close();
  });

  it('leads to the first webhook step by step, until one was delivered', async () => {
    await visit.context.close();
    await visitFleet(fresh);
    await visit.open('/subscriptions');
    await page.getByRole('link', { name: 'Create a subscription' }).click();
    await page.getByText('An endpoint to try it').click();
    expect(await page.locator('pre').textContent()).toContain('createServer');
    await page.getByLabel('URL that receives the events').fill(receiver.url('/first'));
    await page.getByText('the ignition was switched on').click();
    expect(await page.getByLabel('ignition_on').isChecked()).toBe(true);
    expect(await pageProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Subscription created' }).waitFor();

    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Receive your first webhook' }).waitFor();
    await page
      .getByRole('region', { name: 'Where deliveries fail or are retried' })
      .getByText('No delivery began')
      .waitFor();
    expect(await pageProblems(page)).toEqual([]);
    await page.getByRole('link', { name: 'Send a test event' }).click();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('Your endpoint responded with 200').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Receive your first webhook' }).waitFor({ state: 'detached' });
    expect(visit.problems).toEqual([]);
  });

  it('begins with its figures below the first steps, not in their place', async () => {
    await visit.context.close();
    await visitFleet(fresh);
    let answerNow: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answerNow = resolve));
    // As long as nothing was delivered: the other test of this fleet delivers something.
    await page.route('**/public/v2/events?*', async (route) => {
      await held;
      await route.fulfill({ json: { data: [], nextPageState: null, searchedUntil: null, completeUntil: null } });
    });
    const figures = page.waitForResponse('**/public/v2/metrics*');
    await visit.open('/overview');
    await figures;
    const tiles = page.locator('.tiles');
    const before = (await tiles.count()) === 0 ? null : await tiles.boundingBox();
    answerNow();
    await page.getByRole('heading', { name: 'Receive your first webhook' }).waitFor();
    const after = await tiles.boundingBox();
    expect(before ?? after).toEqual(after);
  });

  it('keeps what is below the latest deliveries in its place when they come, and has the figures as a table', async () => {
    let answerNow: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answerNow = resolve));
    await page.route('**/public/v2/events?*', async (route) => {
      await held;
      await route.continue();
    });
    await visit.open(`/subscriptions/${subscriptionId}`);
    const latest = page.getByRole('region', { name: 'Latest deliveries' });
    await latest.waitFor();
    const before = (await latest.boundingBox())?.height;
    answerNow();
    await latest.getByRole('link', { name: 'van-1' }).waitFor();
    expect((await latest.boundingBox())?.height).toBe(before);

    await page.getByText('All figures as a table').click();
    const table = page.getByRole('region', { name: 'All figures' });
    expect(await table.getByRole('row').count()).toBeGreaterThan(24);
    expect(await pageProblems(page)).toEqual([]);
  });

  it('signs in a tab that is opened from one of its links, and no other', async () => {
    await visit.open('/deliveries');
    // The menu of a link, from which a browser opens it in a tab of its own. Not every headless one can do that by itself.
    await page.getByRole('link', { name: 'Subscriptions' }).click({ button: 'right' });
    const opened = await visit.context.newPage();
    await opened.goto(visit.address('/subscriptions'));
    await opened.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    const typed = await visit.context.newPage();
    await typed.goto(visit.address('/vehicles'));
    await typed.getByLabel('API key').waitFor();
  });

  it('says that a text could not be copied, and gives it to do it by hand', async () => {
    await visit.open('/deliveries');
    await page.locator('[data-row]').first().getByRole('link').click();
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    await page.getByRole('button', { name: 'Copy the event id' }).click();
    const field = page.getByLabel('Could not be copied: select the text');
    expect(page.url()).toContain(await field.inputValue());
    expect(await pageProblems(page)).toEqual([]);
  });

  it('takes what is typed right after Ctrl+K, and opens a result in a tab of its own', async () => {
    await visit.open('/overview');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('van-1');
    expect(await page.getByRole('combobox').inputValue()).toBe('van-1');
    const opened = visit.context.waitForEvent('page');
    await page.keyboard.press('Control+Enter');
    const tab = await opened;
    await tab.getByRole('heading', { name: 'Deliveries' }).waitFor();
    expect(tab.url()).toBe(visit.address('/deliveries?deviceId=van-1'));
  });

  it('keeps the result that is chosen in sight', async () => {
    await page.setViewportSize({ width: 1_280, height: 320 });
    await visit.open('/overview');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
    await page.keyboard.press('ArrowUp');
    const chosen = await page.getByRole('option', { selected: true }).boundingBox();
    const list = await page.getByRole('listbox').boundingBox();
    if (!chosen || !list) throw new Error('There are no results.');
    expect(chosen.y + chosen.height).toBeLessThanOrEqual(list.y + list.height + 1);
  });

  it('has a way on from wherever nothing is', async () => {
    await page.goto(`${visit.address(`/deliveries/${UNKNOWN}`)}#key=${waypost.info().apiKeys[used] ?? ''}`);
    await page.getByRole('heading', { name: 'There is no such event' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('heading', { name: 'Deliveries', exact: true }).waitFor();
    await visit.open('/deliveries?deviceId=nobody');
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.waitForURL(visit.address('/deliveries'));
    await page.goto(visit.address(`/subscriptions/${UNKNOWN}`));
    await page.getByRole('heading', { name: 'There is no such subscription' }).waitFor();
    expect(await pageProblems(page)).toEqual([]);
    await visit.open('/vehicles?deviceId=nobody');
    await page.getByText('It did not report in this time').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Vehicles' }).click();
    await page.getByRole('heading', { name: 'Vehicles', exact: true }).waitFor();
  });

  it.each([360, 1_280])('keeps the longest ids within a page of %d px', async (width) => {
    await page.setViewportSize({ width, height: 800 });
    const device = encodeURIComponent(LONG);
    const found: string[] = [];
    await visit.open(`/deliveries?deviceId=${device}`);
    await page.locator('[data-row]').getByRole('link').click();
    await page.getByText('Attempt 1').waitFor();
    found.push(...(await pageProblems(page)));
    for (const path of ['/vehicles', `/vehicles?deviceId=${device}`]) {
      await visit.open(path);
      await page.locator('canvas').waitFor();
      found.push(...(await pageProblems(page)));
    }
    expect(found).toEqual([]);
    expect(await page.evaluate('window.wasRun')).toBeUndefined();
  });

  it('shows how each subscription fares, and the latest deliveries of one', async () => {
    // As of a fleet with more subscriptions than a page of them.
    await page.route(/webhook-subscriptions\?limit=200/, (route) =>
      route.continue({ url: route.request().url().replace('limit=200', 'limit=1') }),
    );
    await visit.open('/subscriptions');
    await page.getByLabel('Find a subscription').fill('position');
    const row = page.getByRole('row').filter({ hasText: /^position/ });
    await until(async () => expect(await row.textContent()).toContain('2 delivered'));
    expect(await row.getByRole('link', { name: '2 delivered' }).getAttribute('href')).toContain('subscriptionId=');
    await page.getByLabel('Find a subscription').fill('ignition');
    await row.waitFor({ state: 'detached' });
    await page
      .getByRole('row')
      .filter({ hasText: /^ignition_on/ })
      .waitFor();
    expect(await pageProblems(page)).toEqual([]);
    await visit.open(`/subscriptions/${subscriptionId}`);
    await page.getByRole('button', { name: '1 hour' }).click();
    await page.waitForURL(/range=hour/);
    const latest = page.getByRole('region', { name: 'Latest deliveries' });
    await latest.getByRole('link', { name: 'van-1' }).click();
    await page.getByText('Attempt 1').waitFor();
    expect(await page.title()).toBe('position van-1 - Waypost');
    await page.goBack();
    await latest.getByRole('link', { name: 'All deliveries' }).click();
    await page.waitForURL(visit.address(`/deliveries?subscriptionId=${subscriptionId}`));
  });

  it('says that there are newer deliveries than those of the list, and shows them when asked', async () => {
    await page.clock.install();
    await visit.open('/deliveries');
    await until(async () => expect(await page.locator('[data-row]').count()).toBeGreaterThan(0));
    const before = await page.locator('[data-row]').count();
    await publish('van-newer');
    await until(async () => {
      await page.clock.runFor(15_000);
      expect(await page.getByRole('button', { name: 'Refresh: 1 newer' }).count()).toBe(1);
    });
    expect(await page.locator('[data-row]').count()).toBe(before);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await until(async () => expect(await page.locator('[data-row]').count()).toBe(before + 1));
  });

  it('counts a range from when the page was loaded again', async () => {
    await visit.open('/deliveries?range=15m');
    await page.locator('[data-row], .state').first().waitFor();
    // As of a page that was opened long ago.
    await page.evaluate(`history.replaceState({ ...history.state, openedAtMs: ${String(Date.UTC(2020, 0))} }, '')`);
    const asked = page.waitForRequest(/public\/v2\/events\?/);
    await page.reload();
    const startDate = new URL((await asked).url()).searchParams.get('startDate') ?? '';
    expect(Date.parse(startDate)).toBeGreaterThan(Date.now() - 60 * 60_000);
  });
});
