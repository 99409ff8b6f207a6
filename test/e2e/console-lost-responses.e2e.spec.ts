import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import type { Geofence, Replay, Subscription } from '@waypost/client';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-lost-responses';
const SUBSCRIPTIONS = '/public/v1/webhook-subscriptions';
const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let receiver: Receiver;
let visit: ConsoleVisit;
let page: Page;

describeInBrowser('What the console asks for again because the response was lost (R-17, R-30)', () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    await waypost.createFleet(fleet);
  }, 120_000);

  afterAll(() => receiver.close());

  beforeEach(async () => {
    visit = await visitConsole(browser(), waypost, fleet);
    page = visit.page;
  });

  afterEach(async () => {
    await visit.context.close();
  });

  /** Presses it while the service carries out what it is asked for, but no response arrives, and again when one does. */
  async function pressTwice(button: Locator | (() => Promise<void>), path: RegExp): Promise<void> {
    const press = typeof button === 'function' ? button : () => button.click();
    await page.route(path, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      return route.abort();
    });
    await press();
    await page.getByText('The API does not respond.').waitFor();
    await page.unroute(path);
    await press();
    await until(async () => expect(await page.getByText('The API does not respond.').count()).toBe(0));
  }

  async function replaysOf(id: string): Promise<readonly Replay[]> {
    return (await waypost.api<{ data: Replay[] }>(fleet, 'GET', `${SUBSCRIPTIONS}/${id}/replays`)).data;
  }

  it('makes subscriptions once, and shows their secret', async () => {
    await visit.open('/subscriptions/new');
    await page.getByLabel('URL that receives the events').fill(receiver.url('/made'));
    await page.getByLabel('position', { exact: true }).check();
    await page.getByLabel('ignition_on', { exact: true }).check();
    await pressTwice(page.getByRole('button', { name: 'Create' }), /webhook-subscriptions$/);
    await page.getByRole('heading', { name: '2 subscriptions created' }).waitFor();
    await page.locator('code').filter({ hasText: 'whsec_' }).waitFor();
  });

  it('makes a geofence once', async () => {
    await visit.open('/vehicles?geofence=new');
    await page.getByLabel('Center: latitude').fill('52.1');
    await page.getByLabel('Center: longitude').fill('11.6');
    await page.getByLabel('Name').fill('Yard');
    await pressTwice(page.getByRole('button', { name: 'Create' }), /geofences$/);
    await page.getByRole('link', { name: 'Yard' }).waitFor();
    const { data } = await waypost.api<{ data: Geofence[] }>(fleet, 'GET', '/public/v1/geofences');
    expect(data.map(({ name }) => name)).toEqual(['Yard']);
  });

  it('rotates a secret once, sends a test event per press, and begins one replay of a window and one of an event', async () => {
    const [made] = await subscribe(waypost, { fleet, url: receiver.url('/one'), types: ['position'] });
    const id = made?.id ?? '';
    const eventTime = '2026-05-04T08:00:00.000Z';
    await waypost.publish(fleet, [{ deviceId: 'van-1', latitude: 52.1, longitude: 11.6, eventTime }]);
    const [call] = await until(async () => {
      const { data } = await waypost.api<{ data: object[] }>(fleet, 'GET', `/public/v2/events?subscriptionId=${id}`);
      expect(data).toHaveLength(1);
      return receiver.callsTo('/one');
    });
    await visit.open(`/subscriptions/${id}`);
    const rotate = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Rotate the secret' }).click();
      await page.getByRole('button', { name: 'Create a new secret' }).click();
    };
    await pressTwice(rotate, /rotate-secret/);
    await page.locator('code').filter({ hasText: 'whsec_' }).waitFor();
    expect((await waypost.api<Subscription>(fleet, 'GET', `${SUBSCRIPTIONS}/${id}`)).version).toBe(2);
    // What has succeeded is asked for anew.
    await rotate();
    await until(async () => {
      expect((await waypost.api<Subscription>(fleet, 'GET', `${SUBSCRIPTIONS}/${id}`)).version).toBe(3);
    });

    await pressTwice(page.getByRole('button', { name: 'Send a test event' }), /\/test$/);
    await page.getByText('Your endpoint responded with 200').waitFor();
    const [, , second] = await until(() => {
      const calls = receiver.callsTo('/one');
      expect(calls).toHaveLength(3);
      return Promise.resolve(calls);
    });
    // Each press is judged by its own: the endpoint may have been repaired since the first.
    const shown = await page.getByRole('link', { name: 'Show the delivery' }).getAttribute('href');
    expect(shown).toContain(second?.eventId ?? 'none');

    await page.getByRole('combobox', { name: 'Status', exact: true }).selectOption('delivered');
    await pressTwice(page.getByRole('button', { name: 'Send them again' }), /\/replays$/);
    await until(async () => expect(await page.locator('.replay').count()).toBe(1));
    expect(await replaysOf(id)).toHaveLength(1);

    await visit.open(`/deliveries/${call?.eventId ?? ''}`);
    await pressTwice(page.getByRole('button', { name: 'Resend', exact: true }), /\/resend$/);
    await page.getByText(/^Resend \d+: /).waitFor();
    expect(await replaysOf(id)).toHaveLength(2);
  });
});
