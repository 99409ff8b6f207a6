import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { pageProblems } from '../support/page-problems.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-filters';
const waypost = runningWaypost(sharedDataDir());
const FOCUSED = 'document.activeElement.textContent';
const browser = startBrowser();
let visit: ConsoleVisit;
let page: Page;
let subscriptionId: string;

describeInBrowser('The filters in effect', () => {
  beforeAll(async () => {
    await waypost.createFleet(fleet);
    const [made] = await subscribe(waypost, { fleet, url: 'http://127.0.0.1:9/hooks', types: ['position'] });
    subscriptionId = made?.id ?? '';
  }, 120_000);

  beforeEach(async () => {
    visit = await visitConsole(browser(), waypost, fleet);
    page = visit.page;
  });

  afterEach(() => visit.context.close());

  function chip(text: string) {
    return page.getByRole('button', { name: `Remove the filter ${text}` });
  }

  async function hasAddress(path: string): Promise<void> {
    await until(() => expect(page.url()).toBe(visit.address(path)));
  }

  it('are taken away by one key each, which is said, while the list keeps its place and the keyboard its own', async () => {
    const place = async () => (await page.locator('.list-line').boundingBox())?.y;
    await visit.open('/deliveries');
    await page.getByText('No filters: last day').waitFor();
    const before = await place();
    await visit.open('/deliveries?range=1h&status=failed&deviceId=van-1&order=asc');
    await chip('First attempt: Last hour').waitFor();
    expect(await place()).toBe(before);

    await chip('Status: failed').focus();
    await page.keyboard.press('Delete');
    await hasAddress('/deliveries?range=1h&deviceId=van-1&order=asc');
    await page.getByRole('status').filter({ hasText: 'Removed the filter Status. 2 filters left.' }).waitFor();
    expect(await page.evaluate(FOCUSED)).toContain('Device: van-1');
    await page.keyboard.press('Enter');
    await hasAddress('/deliveries?range=1h&order=asc');
    expect(await page.evaluate(FOCUSED)).toContain('First attempt: Last hour');

    await page.keyboard.press('x');
    await hasAddress('/deliveries?order=asc');
    await page.getByRole('status').filter({ hasText: 'Removed all filters.' }).waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Filters in effect');
    expect(await place()).toBe(before);
    expect(visit.problems).toEqual([]);
  });

  it('are said to be taken away each time, and not once they have changed in another way', async () => {
    await visit.open('/deliveries?status=failed&deviceId=van-1');
    const said = page.getByRole('status').filter({ hasText: 'Removed the filter Status. 1 filter left.' });
    await chip('Status: failed').click();
    await said.waitFor({ state: 'attached' });
    await page.getByRole('combobox', { name: 'Status', exact: true }).selectOption('failed');
    await said.waitFor({ state: 'detached' });
    await chip('Status: failed').click();
    await said.waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await said.waitFor({ state: 'detached' });
  });

  it('keep the moments of a window that are not changed, also in the hour that comes twice', async () => {
    const berlin = await visitConsole(browser(), waypost, fleet, { timezoneId: 'Europe/Berlin' });
    const addressOf = (from: string, to: string) =>
      visit.address(`/deliveries?${new URLSearchParams({ from, to }).toString()}`);
    // 2:45 and 2:15 on the clock, which is set back at 3:00.
    const [from, to] = ['2026-10-25T00:45:30.250Z', '2026-10-25T01:15:00.500Z'];
    await berlin.open(`/deliveries?${new URLSearchParams({ from, to }).toString()}`);
    const opens = berlin.page.getByRole('button', { name: /^First attempt/ });
    const apply = berlin.page.getByRole('button', { name: 'Apply' });
    await opens.click();
    await apply.click();
    await apply.waitFor({ state: 'hidden' });
    expect(berlin.page.url()).toBe(addressOf(from, to));

    await opens.click();
    await berlin.page.getByLabel('From', { exact: true }).fill('2026-10-25T01:00:00');
    await apply.click();
    await berlin.page.waitForURL(addressOf('2026-10-24T23:00:00.000Z', to));
    await berlin.context.close();
  });

  it('stay as they are while a dialog is open in front of them, whatever key is pressed', async () => {
    await visit.open('/deliveries?status=failed');
    await page.getByRole('button', { name: 'Resend all' }).click();
    // As a click on a text of the dialog does, where the browser does not focus the dialog itself.
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('x');
    expect(await page.evaluate('location.search')).toBe('?status=failed');
    await page.keyboard.press('Control+k');
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.keyboard.press('x');
    await hasAddress('/deliveries');
  });

  it('fit a small screen, however many and long they are, and name what they mean', async () => {
    await page.setViewportSize({ width: 360, height: 800 });
    const search = `range=15m&status=failed&eventType=position&eventType=test&deviceId=${'van'.repeat(40)}&statusCode=503`;
    await visit.open(`/deliveries?${search}&subscriptionId=${subscriptionId}`);
    await chip('Subscription: position → http://127.0.0.1:9/hooks').waitFor();
    expect(await page.getByRole('group', { name: 'Filters in effect' }).getByRole('listitem').count()).toBe(7);
    expect(await pageProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await until(async () => expect(await chip('First attempt').count()).toBe(0));
    await page.getByRole('button', { name: 'Clear all' }).click();
    await page.getByText('No filters', { exact: true }).waitFor();
    await hasAddress('/deliveries?view=live');
    expect(await pageProblems(page)).toEqual([]);
  });
});
