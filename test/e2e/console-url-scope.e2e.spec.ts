import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Subscription } from '@waypost/client';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { pageProblems } from '../support/page-problems.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-url-scope';
const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let visit: ConsoleVisit;
let page: Page;

describeInBrowser('Subscriptions with one URL, in the console', () => {
  beforeAll(async () => {
    await waypost.createFleet(fleet);
  }, 120_000);

  beforeEach(async () => {
    visit = await visitConsole(browser(), waypost, fleet);
    page = visit.page;
  });

  afterEach(async () => {
    await visit.context.close();
  });

  async function read(id: string | undefined): Promise<Subscription> {
    return waypost.api<Subscription>(fleet, 'GET', `/public/v1/webhook-subscriptions/${id ?? ''}`);
  }

  it('get a new secret together, or it is said which of them keep theirs (R-16, R-17)', async () => {
    const types = ['position', 'ignition_on', 'ignition_off'];
    const made = await subscribe(waypost, { fleet, url: 'http://127.0.0.1:9/shared', types });
    await subscribe(waypost, { fleet, url: 'http://127.0.0.1:9/other', types: ['route_started'] });
    const versions = () => Promise.all(made.map(async ({ id }) => (await read(id)).version));
    const dialog = page.getByRole('dialog');
    const secret = page.locator('code').filter({ hasText: 'whsec_' });

    await visit.open(`/subscriptions/${made[0]?.id ?? ''}`);
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    const all = dialog.getByLabel(/^All 3 with this URL: position, ignition_o/);
    await all.waitFor();
    expect(await all.isChecked()).toBe(true);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    expect(await pageProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create a new secret' }).click();
    await page.getByText(/the deliveries of position, ignition_o\w+, ignition_o\w+: those/).waitFor();
    const first = await secret.textContent();
    expect(await versions()).toEqual([2, 2, 2]);

    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await dialog.getByLabel('Only position').check();
    await dialog.getByRole('button', { name: 'Create a new secret' }).click();
    await page
      .getByText(/^Deliveries of ignition_o\w+, ignition_o\w+ to the same URL are not signed with it/)
      .waitFor();
    await page.getByText('the deliveries of position: those').waitFor();
    expect(await secret.textContent()).not.toBe(first);
    expect(await versions()).toEqual([3, 2, 2]);
    expect(await pageProblems(page)).toEqual([]);
  });

  it('are edited together in what was changed, and in nothing else, only when one says so (R-16)', async () => {
    const [one, other] = await subscribe(waypost, {
      fleet,
      url: 'http://127.0.0.1:9/edited',
      types: ['position', 'ignition_on'],
    });
    const path = `/public/v1/webhook-subscriptions/${other?.id ?? ''}`;
    await waypost.api(fleet, 'PATCH', path, { description: 'Its own', deviceIds: ['van-1'] });
    const dialog = page.getByRole('dialog');
    await visit.open(`/subscriptions/${one?.id ?? ''}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await dialog.getByLabel('Only position').isChecked()).toBe(true);
    await dialog.getByLabel('Maximum attempts per second').fill('7');
    await dialog.getByLabel('All 2 with this URL: position, ignition_on').check();
    expect(await pageProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('7 per second').waitFor();
    expect(await read(other?.id)).toMatchObject({
      rateLimitPerSecond: 7,
      description: 'Its own',
      deviceIds: ['van-1'],
    });

    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Maximum attempts per second').fill('9');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('9 per second').waitFor();
    await until(async () => expect(await dialog.count()).toBe(0));
    expect(await read(other?.id)).toMatchObject({ rateLimitPerSecond: 7 });
    expect(visit.problems).toEqual([]);
  });
});
