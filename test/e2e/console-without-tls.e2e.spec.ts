import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { REMOTE_HOST } from '../support/browser.js';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { visitConsole } from '../support/console-visit.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-without-tls';
const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let receiver: Receiver;

describeInBrowser('The console on another host without TLS, where a browser lacks what needs a secure context', () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    await waypost.createFleet(fleet);
  }, 120_000);

  afterAll(() => receiver.close());

  it('creates what it is asked for, and gives a text that it cannot copy', async () => {
    const { page, context } = await visitConsole(browser(), waypost, fleet);
    const { apiUrl, apiKeys } = waypost.info();
    const url = new URL('/subscriptions/new', apiUrl);
    url.hostname = REMOTE_HOST;
    await page.goto(`${url.href}#key=${apiKeys[fleet] ?? ''}`);
    await page.getByLabel('URL that receives the events').fill(receiver.url('/made'));
    expect(await page.evaluate('isSecureContext')).toBe(false);
    await page.getByLabel('ignition_on', { exact: true }).check();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Subscription created' }).waitFor();
    await page.getByRole('button', { name: 'Copy the secret' }).click();
    expect(await page.getByLabel('Could not be copied: select the text').inputValue()).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('Your endpoint responded with 200').waitFor();
    await context.close();
  });
});
