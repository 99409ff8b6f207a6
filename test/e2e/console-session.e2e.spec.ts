import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-session';
const otherFleet = 'console-session-other';
const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let visit: ConsoleVisit;
let page: Page;
let receiver: Receiver;
let subscriptionId: string;

describeInBrowser('Who is signed in to the console', () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    for (const one of [fleet, otherFleet]) await waypost.createFleet(one);
    const [made] = await subscribe(waypost, { fleet, url: receiver.url('/session'), types: ['position'] });
    subscriptionId = made?.id ?? '';
    const place = { eventTime: '2026-05-04T08:00:00.000Z', latitude: 52.1, longitude: 11.6 };
    await waypost.publish(fleet, [{ deviceId: 'van-1', ...place }]);
    await waypost.cli('wait', '--idle', '1');
  }, 120_000);

  afterAll(() => receiver.close());

  beforeEach(async () => {
    visit = await visitConsole(browser(), waypost, fleet);
    page = visit.page;
  });

  afterEach(async () => {
    await visit.context.close();
  });

  it('is open at once with a sign-in link, whose key does not stay in the address', async () => {
    await visit.open('/');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Overview');
    expect(page.url()).toBe(visit.address('/overview'));
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(visit.problems).toEqual([]);
  });

  it('says that a key is wrong, and takes the right one', async () => {
    await page.goto(visit.address('/'));
    await page.getByLabel('API key').fill('wp_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'does not know this key' }).waitFor();
    await page.getByLabel('API key').fill(waypost.info().apiKeys[fleet] ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('becomes another with a link that is pasted into a tab that is signed in', async () => {
    await visit.open('/overview');
    await page.getByText(fleet, { exact: true }).waitFor();
    await page.goto(`${visit.address('/overview')}#key=${waypost.info().apiKeys[otherFleet] ?? ''}`);
    await page.getByText(otherFleet, { exact: true }).waitFor();
    expect(page.url()).toBe(visit.address('/overview'));
    await page.goBack();
    expect(page.url()).not.toContain('#');
    expect(visit.problems).toEqual([]);
  });

  async function openDelivery(): Promise<void> {
    await visit.open('/deliveries');
    await page.getByRole('row').filter({ hasText: 'van-1' }).first().getByRole('link').click();
    await page.getByRole('button', { name: 'Resend' }).waitFor();
  }

  it('shows at once that nothing was done offline, and does nothing later either', async () => {
    await openDelivery();
    const before = receiver.calls.length;
    const place = await page.getByRole('heading', { level: 1 }).boundingBox();
    await visit.context.setOffline(true);
    await page.getByText('The data shown may be outdated').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).boundingBox()).toEqual(place);
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('alert').filter({ hasText: 'This device is offline.' }).waitFor();
    await visit.context.setOffline(false);
    await page.getByText('The data shown may be outdated').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('status').filter({ hasText: 'passed to the sender' }).waitFor();
    await until(() => expect(receiver.calls.length).toBeGreaterThan(before));
    const replays = `/public/v1/webhook-subscriptions/${subscriptionId}/replays`;
    const { data } = await waypost.api<{ data: object[] }>(fleet, 'GET', replays);
    expect([data.length, receiver.calls.length - before]).toEqual([1, 1]);
  });

  it('finds out from a refused action which request it was, and that it has to sign in again', async () => {
    await openDelivery();
    const error = { code: 'unauthorized', message: 'The key is not known.', requestId: 'r-88' };
    await page.route('**/resend', (route) => route.fulfill({ status: 401, json: { error } }));
    await page.getByRole('button', { name: 'Resend' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'The key is not known. Request r-88' });
    await alert.getByRole('button', { name: 'Sign in again' }).click();
    await page.getByLabel('API key').waitFor();
  });
});
