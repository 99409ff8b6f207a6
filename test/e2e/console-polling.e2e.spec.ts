import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Subscription } from '@waypost/client';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-polling';
const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let receiver: Receiver;
let visit: ConsoleVisit;
let page: Page;
let subscriptionId: string;
let eventId: string;

describeInBrowser('How often the console asks', () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    await waypost.createFleet(fleet);
    const [made] = await subscribe(waypost, { fleet, url: receiver.url('/hooks'), types: ['position'] });
    subscriptionId = made?.id ?? '';
    const eventTime = '2026-05-04T08:00:00.000Z';
    await waypost.publish(fleet, [{ deviceId: 'van-1', latitude: 52.1, longitude: 11.6, eventTime }]);
    const [event] = await until(async () => {
      const { data } = await waypost.api<{ data: { eventId: string }[] }>(fleet, 'GET', '/public/v2/events');
      expect(data).toHaveLength(1);
      return data;
    });
    eventId = event?.eventId ?? '';
  }, 120_000);

  afterAll(() => receiver.close());

  beforeEach(async () => {
    visit = await visitConsole(browser(), waypost, fleet);
    page = visit.page;
    await page.clock.install();
  });

  afterEach(async () => {
    await visit.context.close();
  });

  /** How often it is asked for what the pattern matches, by what the answer is for each. */
  async function answered(pattern: RegExp, json: (url: string) => object): Promise<() => number> {
    let count = 0;
    await page.route(pattern, (route) => {
      if (route.request().method() === 'GET') count += 1;
      return route.fulfill({ json: json(route.request().url()) });
    });
    return () => count;
  }

  /** Lets the time of the page pass, and what it asks for then be asked for. */
  async function pass(ms: number): Promise<void> {
    await page.clock.runFor(ms);
    await page.evaluate('document.title');
  }

  it('ends once a resend is over that had nothing to send, whose delivery never comes (R-33)', async () => {
    const replay = { replayId: 'r-9', subscriptionId, eventId, series: 9, state: 'pending', progress: { sent: 0 } };
    let reads = 0;
    await page.route(`**/public/v2/events/${eventId}?*`, (route) => {
      reads += 1;
      return route.continue();
    });
    await answered(/\/resend$/, () => replay);
    await answered(/\/replays\/r-9$/, () => ({ ...replay, state: 'completed' }));
    await visit.open(`/deliveries/${eventId}`);
    await page.getByRole('button', { name: 'Resend', exact: true }).click();
    await page.getByText('Resend 9: nothing left to send').waitFor();
    const before = reads;
    await pass(60_000);
    expect(reads).toBe(before);
  });

  it('is less for a test event that stays pending', async () => {
    const testEventId = crypto.randomUUID();
    await answered(/\/test$/, () => ({ eventId: testEventId }));
    const reads = await answered(/\/v2\/events\?.*eventId=/, () => ({ data: [], nextPageState: null }));
    await visit.open(`/subscriptions/${subscriptionId}`);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await until(() => reads() > 2);
    await page.clock.pauseAt(Date.now() + 60_000);
    await pass(5_000);
    const before = reads();
    for (let count = 0; count < 8; count += 1) await pass(500);
    expect(reads() - before).toBeLessThanOrEqual(1);
    await until(async () => {
      await pass(1_000);
      expect(reads() - before).toBeGreaterThan(1);
    });
  });

  it('is less for each replay of a resend the more of them are open (R-30)', async () => {
    const path = `/public/v1/webhook-subscriptions/${subscriptionId}`;
    const one = await waypost.api<Subscription>(fleet, 'GET', path);
    const many = Array.from({ length: 100 }, () => ({ ...one, id: crypto.randomUUID() }));
    const replay = { series: 1, state: 'running', progress: { sent: 0, matched: 3 } };
    const idOf = (url: string) => url.split('/').at(-2);
    await answered(/\/webhook-subscriptions\?/, () => ({ data: many, nextPageState: null }));
    await answered(/\/resendable\?/, () => ({ deliveries: 3, hasMore: false }));
    await answered(/\/replays$/, (url) => ({ ...replay, subscriptionId: idOf(url), replayId: `r-${idOf(url) ?? ''}` }));
    const reads = await answered(/\/replays\/r-/, (url) => ({ ...replay, replayId: url.split('/').at(-1) }));
    await visit.open('/deliveries');
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText('300 deliveries to 100 subscriptions').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Resend', exact: true }).click();
    await page.getByText('0 of 300 deliveries passed to the sender').waitFor();
    // Each of them once as it is begun, and then twenty in a second.
    await until(() => reads() >= 100);
    await page.clock.pauseAt(Date.now() + 60_000);
    await pass(1_000);
    const before = reads();
    for (let count = 0; count < 4; count += 1) await pass(1_000);
    // Those of the second before may have been on their way.
    expect(reads() - before).toBeLessThanOrEqual(5 * 20);
    await until(async () => {
      await pass(1_000);
      expect(reads() - before).toBeGreaterThanOrEqual(100);
    });
  });
});
