import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import type { Subscription } from '@waypost/client';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { pageProblems } from '../support/page-problems.js';
import { ok, type ReceivedCall, type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-resends';
/** Of another customer. */
const otherFleet = 'console-resends-other';
const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let receiver: Receiver;
let visit: ConsoleVisit;
let page: Page;

/** To the last character. */
const FILL_STORAGE = `(() => {
  for (let length = 1 << 22; length >= 1; length >>= 1)
    for (let full = false; !full; ) {
      try {
        localStorage.setItem(crypto.randomUUID(), 'x'.repeat(length));
      } catch {
        full = true;
      }
    }
})()`;

/** Refuses, for good, what van-refused reports. */
function answer({ body }: ReceivedCall) {
  return { type: 'respond', status: body.toString().includes('van-refused') ? 422 : 200 } as const;
}

describeInBrowser('The resends of the console', () => {
  beforeAll(async () => {
    receiver = await startReceiver(answer);
    for (const one of [fleet, otherFleet]) await waypost.createFleet(one);
    await subscribe(waypost, { fleet, url: receiver.url('/hooks'), types: ['position', 'ignition_on'] });
    const at = ['van-refused-1', 'van-refused-2', 'van-fine'].map((deviceId, minute) => ({
      deviceId,
      latitude: 52.1,
      longitude: 11.6,
      eventTime: new Date(Date.UTC(2026, 4, 4, 8, minute)).toISOString(),
    }));
    await waypost.publish(fleet, at);
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

  async function setStatus(eventType: string, status: 'active' | 'paused'): Promise<void> {
    const path = '/public/v1/webhook-subscriptions';
    const { data } = await waypost.api<{ data: Subscription[] }>(fleet, 'GET', `${path}?eventType=${eventType}`);
    for (const { id } of data) await waypost.api(fleet, 'PATCH', `${path}/${id}`, { status });
  }

  it('resends all that a filter matches, and one can come back to its progress (R-30)', async () => {
    const refused = receiver.calls.filter(({ body }) => body.toString().includes('van-refused'));
    expect(refused).toHaveLength(2);
    receiver.behave(ok);
    await visit.open('/deliveries?status=failed');
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText('2 deliveries to 1 subscription').waitFor();
    expect(await pageProblems(page)).toEqual([]);
    const send = page.getByRole('dialog').getByRole('button', { name: 'Resend', exact: true });

    // One of them with its device, by which no figures are kept.
    await visit.open('/deliveries?status=failed&deviceId=van-refused-1');
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText('1 delivery to 1 subscription').waitFor();
    await page.route('**/resendable?*', (route) => route.abort());
    await visit.open('/deliveries?status=failed');
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText('as many as match when it begins').waitFor();
    await page.unroute('**/resendable?*');

    // What was read for an earlier opening is not taken for what there is now.
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.route('**/public/v1/webhook-subscriptions?*', (route) => route.abort());
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText('The subscriptions could not be read').waitFor();
    await page.unroute('**/public/v1/webhook-subscriptions?*');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText('2 deliveries to 1 subscription').waitFor();
    await page.evaluate(FILL_STORAGE);
    await send.click();
    await page.getByText('this browser has no storage left for the progress').waitFor();
    await page.evaluate('localStorage.clear()');
    // Paused by somebody else in between.
    await setStatus('position', 'paused');
    await send.click();
    await page.getByRole('heading', { name: 'Resends' }).waitFor();
    await page.getByText('1 of 1 subscriptions rejected their replay').waitFor();
    await page.getByText('409 subscription_not_active').waitFor();
    expect(await pageProblems(page)).toEqual([]);
    await setStatus('position', 'active');
    await page.getByRole('button', { name: 'Start the other 1' }).click();
    await page.getByText('2 of 2 deliveries passed to the sender').waitFor();
    await page.getByText('By subscription').click();
    await page.locator('.badge.completed').waitFor();

    // Not to somebody of another fleet in the same browser.
    await visit.open('/deliveries', otherFleet);
    await page.goto(visit.address('/deliveries/resends'));
    await page.getByText('Nothing was resent from this browser').waitFor();

    await visit.open('/deliveries');
    await page.goto(visit.address('/deliveries/resends'));
    await page.getByText('2 of 2 deliveries passed to the sender').waitFor();
    expect(await pageProblems(page)).toEqual([]);
    const sent = await until(() => {
      const calls = receiver.calls.filter(({ body }) => body.toString().includes('van-refused'));
      expect(calls).toHaveLength(4);
      return Promise.resolve(calls);
    });
    const again = sent.slice(2).map(({ eventId }) => eventId);
    expect(again.toSorted()).toEqual(refused.map(({ eventId }) => eventId).toSorted());
    await page.getByRole('button', { name: 'Forget' }).click();
    await page.getByText('Nothing was resent from this browser').waitFor();
    receiver.behave(answer);
  });

  it('stops a resend that is still being begun, and cancels what was begun of it (R-30)', async () => {
    let answerNow: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answerNow = resolve));
    const asked: string[] = [];
    await page.route('**/replays', async (route) => {
      asked.push('create');
      await held;
      const [, subscriptionId] = /([^/]+)\/replays$/.exec(route.request().url()) ?? [];
      const replay = { replayId: 'r-1', subscriptionId, series: 1, state: 'running', progress: { sent: 0 } };
      await route.fulfill({ status: 201, json: replay });
    });
    await page.route('**/replays/**', (route) => {
      if (route.request().method() === 'POST') asked.push('cancel');
      const state = asked.includes('cancel') ? 'cancelled' : 'running';
      return route.fulfill({ json: { replayId: 'r-1', series: 1, state, progress: { sent: 0 } } });
    });
    await page.route('**/resendable?*', (route) => route.fulfill({ json: { deliveries: 10_000, hasMore: true } }));
    await visit.open('/deliveries?deviceId=van-fine');
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText('At least 20,000 deliveries to 2 subscriptions, which takes 20 s or longer').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Resend', exact: true }).click();
    await until(() => asked.length > 0);
    await page.getByRole('button', { name: 'Cancel all' }).click();
    answerNow();
    await page.getByRole('button', { name: 'Start the other 1' }).waitFor();
    await page.locator('.badge.cancelled').waitFor({ state: 'attached' });
    expect(asked).toEqual(['create', 'cancel']);
  });

  it('goes on beginning a resend while another page is shown, and stops it at a sign-out (R-30)', async () => {
    const held: Route[] = [];
    const release = (route: Route | undefined): Promise<void> | undefined => {
      const subscriptionId = route?.request().url().split('/').at(-2) ?? '';
      const replay = {
        replayId: `r-${subscriptionId}`,
        subscriptionId,
        series: 1,
        state: 'running',
        progress: { sent: 0 },
      };
      return route?.fulfill({ status: 201, json: replay });
    };
    const begin = async (): Promise<void> => {
      await visit.open('/deliveries?deviceId=van-fine');
      await page.getByRole('button', { name: 'Resend all' }).click();
      await page.getByText('6 deliveries to 2 subscriptions').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Resend', exact: true }).click();
    };
    await page.route('**/replays', (route) => void held.push(route));
    await page.route('**/replays/r-*', (route) =>
      route.fulfill({ json: { replayId: 'r', series: 1, state: 'running', progress: { sent: 0 } } }),
    );
    await page.route('**/resendable?*', (route) => route.fulfill({ json: { deliveries: 3, hasMore: false } }));
    await begin();
    await until(() => held.length === 1);
    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await release(held[0]);
    await until(() => held.length === 2);
    await page.getByRole('navigation').getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('link', { name: 'Past resends' }).click();
    const isStarting = page.getByText('The replays are being started from this tab.');
    await isStarting.waitFor();
    expect(await pageProblems(page)).toEqual([]);
    await release(held[1]);
    await isStarting.waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: /^Start the other/ }).count()).toBe(0);

    await begin();
    await until(() => held.length === 3);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    const stored = `Object.values(localStorage).join().split('"replayId":"r-').length - 1`;
    const before = await page.evaluate<number>(stored);
    await release(held[2]);
    await until(async () => expect(await page.evaluate(stored)).toBe(before + 1));
    // What was asked for before this request is known of by its response.
    await page.evaluate("fetch('/').then(() => null)");
    expect(held).toHaveLength(3);
  });

  it('says on every page that a resend failed, until its own page is opened (R-30)', async () => {
    const held: Route[] = [];
    await page.route('**/replays', (route) => void held.push(route));
    await page.route('**/resendable?*', (route) => route.fulfill({ json: { deliveries: 3, hasMore: false } }));
    await visit.open('/deliveries?deviceId=van-fine');
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText('6 deliveries to 2 subscriptions').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Resend', exact: true }).click();
    await until(() => held.length === 1);
    const goTo = async (name: string): Promise<void> => {
      await page.getByRole('navigation').getByRole('link', { name }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    };
    await goTo('Overview');
    const error = { code: 'forbidden', message: 'Not this one.' };
    await held[0]?.fulfill({ status: 403, json: { error } });
    const notice = page.getByText('Not all replays of a resend were started.');
    await notice.waitFor();
    expect(await pageProblems(page)).toEqual([]);
    await goTo('Vehicles');
    expect(await notice.count()).toBe(1);
    await page.getByRole('link', { name: 'Show the resends' }).click();
    await page.getByText('Not this one.').waitFor();
    expect(await notice.count()).toBe(0);
    await goTo('Overview');
    expect(await notice.count()).toBe(0);
  });

  it('begins though the count is a lower bound of none, or does not come (R-30)', async () => {
    const unknown = 'An unknown number of deliveries to 2 subscriptions, as many as match when it begins.';
    const resend = page.getByRole('dialog').getByRole('button', { name: 'Resend', exact: true });
    await page.route('**/resendable?*', (route) => route.fulfill({ json: { deliveries: 0, hasMore: true } }));
    await visit.open('/deliveries?deviceId=van-fine');
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText(unknown).waitFor();
    expect(await resend.isDisabled()).toBe(false);
    await page.getByRole('button', { name: 'Cancel' }).click();

    await page.unroute('**/resendable?*');
    const held: Route[] = [];
    await page.route('**/resendable?*', (route) => void held.push(route));
    await page.getByRole('button', { name: 'Resend all' }).click();
    await page.getByText(unknown).waitFor();
    expect(await resend.isDisabled()).toBe(false);
    for (const route of held) await route.fulfill({ json: { deliveries: 1, hasMore: false } });
    await page.getByText('2 deliveries to 2 subscriptions').waitFor();
  });

  it('names what a resend leaves out because its subscription is not active (R-30)', async () => {
    await setStatus('position', 'paused');
    await visit.open('/deliveries?eventType=position');
    await page.getByRole('button', { name: 'Resend all' }).click();
    const dialog = page.getByRole('dialog');
    await dialog
      .getByRole('listitem')
      .filter({ hasText: /^position .*, paused$/ })
      .waitFor();
    await dialog.getByText('No delivery of an active subscription matches.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Resend', exact: true }).isDisabled()).toBe(true);
    expect(await pageProblems(page)).toEqual([]);
    await setStatus('position', 'active');
  });
});
