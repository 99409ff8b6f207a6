import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Subscription } from '@waypost/client';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { writeBusyHistory } from '../support/busy-history.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { pageProblems } from '../support/page-problems.js';
import { type ReceivedCall, type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-deliveries';
/** Of another customer. */
const otherFleet = 'console-deliveries-other';
const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let receiver: Receiver;
let visit: ConsoleVisit;
let page: Page;
let pings = 0;

/** That a careless page would run. */
const REFUSAL = '<img src=x onerror="window.wasRun = true"> is not a vehicle of ours';
const LAST_ROW = `Math.max(...[...document.querySelectorAll('[data-row]')].map((row) => Number(row.ariaRowIndex)))`;
const FOCUSED_ROW = `document.activeElement.closest('[data-row]')?.ariaRowIndex`;

/** Whether a click in its middle would be one on the button that shows newer attempts. */
const IS_NEWER_ON_TOP = `(() => {
  const button = document.querySelector('.newer');
  const { left, top, width, height } = button.getBoundingClientRect();
  return button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
})()`;

/** Refuses, for good, what van-refused reports. */
function answer({ body }: ReceivedCall) {
  if (!body.toString().includes('van-refused')) return { type: 'respond', status: 200 } as const;
  return { type: 'respond', status: 422, body: REFUSAL } as const;
}

/** One ping of each device, each later than all before it. */
async function publish(...deviceIds: string[]): Promise<void> {
  const at = deviceIds.map((deviceId) => ({
    deviceId,
    latitude: 52.1,
    longitude: 11.6,
    eventTime: new Date(Date.UTC(2026, 4, 4, 8) + 60_000 * pings++).toISOString(),
  }));
  await waypost.publish(fleet, at);
}

describeInBrowser('The deliveries of the console', () => {
  beforeAll(async () => {
    receiver = await startReceiver(answer);
    for (const one of [fleet, otherFleet]) await waypost.createFleet(one);
    const { data: subscriptions } = await waypost.api<{ data: Subscription[] }>(
      fleet,
      'POST',
      '/public/v1/webhook-subscriptions',
      { url: receiver.url('/hooks'), eventTypes: ['position', 'ignition_on'] },
    );
    await publish('van-refused-1', 'van-refused-2', 'van-fine');
    const quiet = subscriptions.filter(({ eventType }) => eventType === 'ignition_on');
    const endpoints = quiet.map(({ id, url, eventType }) => ({
      subscriptionId: id,
      eventType,
      url,
      perMinute: 14,
      answer: () => 200,
    }));
    await writeBusyHistory(waypost.info().databaseUrl, { fleetId: fleet, endpoints, nowMs: Date.now(), minutes: 30 });
    await until(async () => {
      const { data } = await waypost.api<{ data: object[] }>(fleet, 'GET', '/public/v2/events?eventType=position');
      expect(data).toHaveLength(3);
    });
  }, 120_000);

  afterAll(() => receiver.close());

  beforeEach(async () => {
    visit = await visitConsole(browser(), waypost, fleet);
    page = visit.page;
  });

  afterEach(async () => {
    await visit.context.close();
  });

  function rows() {
    return page.locator('[data-row]');
  }

  function filter(name: string) {
    return page.getByRole('button', { name: new RegExp(`^${name}`) });
  }

  it('filters by a range, several types and an order, all of them in the address (R-33)', async () => {
    await visit.open('/deliveries');
    await filter('First attempt').click();
    await page.getByRole('button', { name: 'Last hour' }).click();
    await filter('Event type').click();
    await page.getByLabel('position', { exact: true }).check();
    await page.getByLabel('test', { exact: true }).check();
    await page.keyboard.press('Escape');
    await page.getByLabel('Order').selectOption('Oldest first');
    await until(async () => expect(await rows().count()).toBe(3));
    const expected = '/deliveries?range=1h&eventType=position&eventType=test&order=asc';
    expect(page.url()).toBe(visit.address(expected));
    const devices = await rows().locator('[role=cell]:nth-child(4)').allTextContents();
    expect(devices.toSorted()).toEqual(['van-fine', 'van-refused-1', 'van-refused-2']);

    await page.reload();
    await until(async () => expect(await rows().count()).toBe(3));
    expect(await page.getByText('3 deliveries').count()).toBe(1);
    expect(visit.problems).toEqual([]);
  });

  it('says what a filter cannot be, and lets the keyboard leave it', async () => {
    await visit.open('/deliveries');
    await page.getByLabel('Status code').fill('5');
    await page.keyboard.press('Tab');
    await page.getByText('Three digits, such as 503').waitFor();
    expect(await page.evaluate('document.activeElement.ariaInvalid')).not.toBe('true');
    expect(page.url()).toBe(visit.address('/deliveries'));
    expect(await pageProblems(page)).toEqual([]);
  });

  it('takes a window of its own, in the zone of the reader, and refuses one that ends before it begins', async () => {
    await visit.open('/deliveries');
    await filter('First attempt').click();
    await page.getByLabel('From', { exact: true }).fill('2026-03-20T10:00:00');
    await page.getByLabel('To', { exact: true }).fill('2026-03-20T09:00:00');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('The end is before the start.').waitFor();
    await page.getByLabel('To', { exact: true }).fill('2026-03-20T11:00:00');
    await page.getByRole('button', { name: 'Apply' }).click();
    const [from, to] = await page.evaluate<string[]>(
      `['2026-03-20T10:00:00', '2026-03-20T11:00:00'].map((text) => new Date(text).toISOString())`,
    );
    const window = new URLSearchParams({ from: from ?? '', to: to ?? '' }).toString();
    await page.waitForURL(visit.address(`/deliveries?${window}`));
    await page.getByText('No delivery matches these filters').waitFor();
  });

  it('searches payloads further and further by itself, until it is stopped (R-33)', async () => {
    let isLong = true;
    let isLost = false;
    const asked: (string | null)[] = [];
    const searchedUntil = '2026-05-04T08:00:00.000Z';
    // As of a long history, of which each answer has looked at a part.
    await page.route(/\/public\/v2\/events\?.*payload=/, (route) => {
      const url = new URL(route.request().url());
      asked.push(url.searchParams.get('pageState'));
      url.searchParams.delete('pageState');
      if (isLost) return route.abort();
      if (!isLong) return route.continue({ url: url.href });
      return route.fulfill({ json: { data: [], nextPageState: 'next', searchedUntil, completeUntil: null } });
    });
    await visit.open('/deliveries');
    await page.getByLabel('Payload field').fill('deviceId:van-refused-2');
    await page.getByLabel('Payload field').press('Enter');
    await page.getByText('searched back to 4 May 2026').waitFor();
    await page.getByRole('button', { name: 'Stop the search' }).click();
    await page.getByText('Nothing found so far').waitFor();
    expect(await pageProblems(page)).toEqual([]);

    // A failure costs nothing of what was searched.
    isLost = true;
    await page.getByRole('button', { name: 'Search further' }).click();
    await page.getByText('This could not be loaded').waitFor();
    [isLost, isLong] = [false, false];
    asked.length = 0;
    await page.getByRole('button', { name: 'Try again' }).click();
    await until(() => asked.length > 0);
    expect(asked[0]).toBe('next');
    await until(async () => expect(await rows().count()).toBe(1));
    expect(await rows().textContent()).toContain('van-refused-2');
    expect(page.url()).toBe(visit.address('/deliveries?payload=deviceId%3Avan-refused-2'));
    await page.getByText(/^1 delivery\./).waitFor();
  });

  it('returns from a delivery to the row that it was opened from, far down in the list', async () => {
    await visit.open('/deliveries');
    await rows().first().waitFor();
    // Past the end of two pages, each of which has to be loaded first.
    for (const wanted of [150, 250])
      await until(async () => {
        await page.mouse.wheel(0, 2_000);
        expect(await page.evaluate(LAST_ROW)).toBeGreaterThan(wanted);
      });
    await page.mouse.wheel(0, -400);
    expect((await page.getByRole('columnheader').first().boundingBox())?.y).toBeGreaterThanOrEqual(0);
    // Those before it are out of sight.
    const row = rows().nth(16);
    const index = await until(async () => {
      const seen = await row.getAttribute('aria-rowindex');
      expect(await row.getAttribute('aria-rowindex')).toBe(seen);
      return seen;
    });
    const link = page.locator(`[aria-rowindex="${index ?? ''}"] a`);
    const href = await link.getAttribute('href');
    const top = (await link.boundingBox())?.y;
    await link.click();
    await page.getByText('Attempt 1').first().waitFor();
    await page.goBack();
    const returned = page.locator(`[aria-rowindex="${index ?? ''}"] a[href="${href ?? ''}"]`);
    await returned.waitFor();
    expect((await returned.boundingBox())?.y).toBe(top);
    expect(await page.evaluate(FOCUSED_ROW)).toBe(index);
    expect(visit.problems).toEqual([]);
  });

  it('is opened anew by "back" once its rows are no longer kept', async () => {
    const starts: number[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/public/v2/events' && searchParams.get('limit') === '100')
        starts.push(Date.parse(searchParams.get('startDate') ?? ''));
    });
    await page.clock.install();
    await visit.open('/deliveries?eventType=position');
    await rows().first().getByRole('link').click();
    await page.getByText('Attempt 1').first().waitFor();
    await page.clock.fastForward('31:00');
    await page.goBack();
    await rows().first().waitFor();
    const [first = 0, second = 0] = starts;
    expect(second - first).toBeGreaterThanOrEqual(31 * 60_000);
  });

  it('follows attempts as they are made, keeps them when it is stopped, and misses none after that (R-41)', async () => {
    await visit.open('/deliveries?view=live');
    await page.getByText('Waiting for the next attempt').waitFor();
    await page.locator('.live').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await publish('van-1', 'van-2');
    await until(() => {
      const devices = receiver.calls.slice(-2).map(({ body }) => body.toString());
      expect(devices.join()).toMatch(/van-1.*van-2|van-2.*van-1/s);
      return Promise.resolve();
    });
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Live: 2 attempts').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped after 2 attempts').waitFor();
    await publish('van-3');
    await until(() => {
      expect(receiver.calls.at(-1)?.body.toString()).toContain('van-3');
      return Promise.resolve();
    });
    expect(await rows().count()).toBe(2);

    // Another page, and back: they are still there.
    await rows().first().getByRole('link').click();
    await page.getByText('Attempt 1').waitFor();
    await page.goBack();
    await page.getByText('Stopped after 2 attempts').waitFor();
    await page.keyboard.press('l');
    await page.getByText('Live: 3 attempts').waitFor();
    // On a small screen, while one reads further down, what says that there are newer ones is not under the header.
    await page.setViewportSize({ width: 360, height: 200 });
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await publish('van-4');
    const newer = page.getByRole('button', { name: 'Show 1 newer' });
    await newer.waitFor();
    expect(await page.evaluate(IS_NEWER_ON_TOP)).toBe(true);
    await newer.click();
    await page.setViewportSize({ width: 1_280, height: 720 });
    await page.getByText('Live: 4 attempts').waitFor();
    const devices = await rows().locator('[role=cell]:nth-child(4)').allTextContents();
    expect([devices.slice(0, 2), devices.slice(2).toSorted()]).toEqual([
      ['van-4', 'van-3'],
      ['van-1', 'van-2'],
    ]);
    expect(await pageProblems(page)).toEqual([]);
    expect(visit.problems).toEqual([]);

    // The one who signs in next in this tab sees nothing of them.
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill(waypost.info().apiKeys[otherFleet] ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByText(/^Waiting for the next attempt|^Live: |^Stopped/)
      .first()
      .waitFor();
    expect(await rows().count()).toBe(0);
    await page.getByText(otherFleet, { exact: true }).waitFor();
  });

  it('shows what a refusing receiver said, at its attempt on the time line (R-24)', async () => {
    await visit.open('/deliveries?deviceId=van-refused-1');
    await rows().last().getByRole('link').click();
    await page.getByText(REFUSAL).waitFor();
    expect(await page.evaluate('window.wasRun')).toBeUndefined();
    await page.getByText('Headers of the last attempt').first().click();
    const shown = await page.getByText('webhook-timestamp').first().textContent();
    const [call] = receiver.calls.filter(({ body }) => body.toString().includes('van-refused-1'));
    for (const line of (shown ?? '').split('\n').filter((one) => !one.endsWith('…')))
      expect(Object.entries(call?.headers ?? {}).map(([name, value]) => `${name}: ${String(value)}`)).toContain(line);
    const ofHttp = ['accept-encoding', 'connection', 'content-length', 'host', 'user-agent'];
    const sent = Object.keys(call?.headers ?? {}).filter((name) => !ofHttp.includes(name));
    expect((shown ?? '').split('\n').map((line) => line.split(':')[0])).toEqual(expect.arrayContaining(sent));
    await page.getByText(/^due \d.*(late|on time)$/).waitFor();
    expect(await pageProblems(page)).toEqual([]);
    expect(visit.problems).toEqual([]);
  });

  it('shows a body to be read, and as the bytes that were signed (R-19)', async () => {
    const call = receiver.calls.find(({ body }) => body.toString().includes('van-refused-1'));
    await visit.open(`/deliveries/${call?.eventId ?? ''}`);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('position of van-refused-1');
    const shown = page.getByLabel('Body', { exact: true });
    expect(await shown.textContent()).toBe(JSON.stringify(JSON.parse(call?.body.toString() ?? ''), null, 2));
    await page.getByRole('button', { name: 'As sent', exact: true }).click();
    expect(await shown.textContent()).toBe(call?.body.toString());
    expect(await pageProblems(page)).toEqual([]);
  });

  it('says why a filter cannot be resent as a whole', async () => {
    await visit.open('/deliveries?payload=driverId:driver-46');
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText('A replay cannot be limited to a payload field').waitFor();
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Resend', exact: true }).isDisabled()).toBe(true);
  });

  it('saves a filter under a name, and gives it to others as a link', async () => {
    await visit.open('/deliveries?status=failed&range=1h');
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await page.getByLabel('Name of this filter').fill('Refused <lately>');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    expect(await pageProblems(page)).toEqual([]);
    await visit.open('/deliveries');
    await page.getByRole('button', { name: 'Saved filters (1)' }).click();
    const saved = page.getByRole('link', { name: 'Refused <lately>' });
    expect(await saved.getAttribute('href')).toBe('/deliveries?range=1h&status=failed');
    await saved.click();
    await page.waitForURL(visit.address('/deliveries?range=1h&status=failed'));
    expect(await page.getByRole('combobox', { name: 'Status', exact: true }).inputValue()).toBe('failed');
  });

  it('finds an event by its id, with the keyboard alone', async () => {
    const [call] = receiver.calls;
    await visit.open('/overview');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
    expect(await pageProblems(page)).toEqual([]);
    await page.keyboard.type(call?.eventId ?? '');
    await page.keyboard.press('Enter');
    await page.waitForURL(visit.address(`/deliveries/${call?.eventId ?? ''}`));
    await page.getByText('Attempt 1').first().waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await rows().first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await page.evaluate(FOCUSED_ROW)).toBe('2');
    await page.keyboard.press('Enter');
    await page.getByText('Attempt 1').first().waitFor();
  });

  it('keeps its place while rows load slowly, and says when the device is offline or the key has gone', async () => {
    let answerNow: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answerNow = resolve));
    await page.route('**/public/v2/events?*', async (route) => {
      await held;
      await route.continue();
    });
    await visit.open('/deliveries');
    const skeleton = await page.locator('.skeleton').boundingBox();
    answerNow();
    await rows().first().waitFor();
    const table = await page.getByRole('table').boundingBox();
    expect([table?.x, table?.y, table?.width]).toEqual([skeleton?.x, skeleton?.y, skeleton?.width]);

    await visit.context.setOffline(true);
    await page.getByText('This device is offline.').first().waitFor();
    expect(await rows().count()).toBeGreaterThan(0);
    await visit.context.setOffline(false);
    await page.getByText('This device is offline.').waitFor({ state: 'detached' });

    const error = { code: 'unauthorized', message: 'The key is not known.', requestId: 'r-77' };
    await page.unroute('**/public/v2/events?*');
    await page.route('**/public/v2/events?*', (route) => route.fulfill({ status: 401, json: { error } }));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('Your key is no longer valid').waitFor();
    await page.getByText('r-77').waitFor();
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await page.getByLabel('API key').waitFor();
  });
});
