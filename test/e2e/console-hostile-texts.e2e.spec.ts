import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Subscription } from '@waypost/client';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { visitConsole } from '../support/console-visit.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-hostile-texts';
/** What a careless page runs, and a character that turns the direction of all that follows it in its paragraph. */
const HOSTILE = '<img src=x onerror="window.wasRun = true">\u202Etxet';
const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let receiver: Receiver;

/**
 * Texts of a page that such a character turns although they are not its own: those that follow it before the end of the
 * nearest element that keeps a direction to itself. Where texts stand as they are, in JSON or a field, nothing follows.
 */
const TURNED = `(() => {
  const keeps = (element) => {
    const { display, unicodeBidi } = getComputedStyle(element);
    return display !== 'inline' || /isolate|plaintext/.test(unicodeBidi);
  };
  const turned = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.includes('\\u202E') || node.parentElement.closest('pre, textarea, option, script')) continue;
    let element = node.parentElement;
    while (!keeps(element)) element = element.parentElement;
    const after = document.createRange();
    after.selectNodeContents(element);
    after.setStart(node, node.data.indexOf('\\u202E') + '\\u202Etxet'.length);
    const rest = after.toString().trim();
    // A text that is one string ends the direction by the character for that.
    if (rest !== '' && !rest.startsWith('\\u2069')) turned.push(location.pathname + ': ' + rest);
  }
  return turned;
})()`;

async function fill(): Promise<string> {
  const metadata = { team: HOSTILE, other: 'b' };
  const asked = { url: receiver.url('/hostile'), eventTypes: ['position'], description: HOSTILE, metadata };
  const made = await waypost.api<{ data: Subscription[] }>(fleet, 'POST', '/public/v1/webhook-subscriptions', {
    ...asked,
    deviceIds: [HOSTILE, 'van-2'],
  });
  const shape = { type: 'circle', center: { latitude: 52.1, longitude: 11.6 }, radiusInMeters: 900 };
  await waypost.api(fleet, 'POST', '/public/v1/geofences', { name: HOSTILE, shape });
  const own = { licensePlate: HOSTILE, driverId: HOSTILE, attributes: { note: HOSTILE } };
  const eventTime = new Date().toISOString();
  await waypost.publish(fleet, [{ deviceId: HOSTILE, eventTime, latitude: 52.1, longitude: 11.6, ...own }]);
  await until(async () => {
    const { data } = await waypost.api<{ data: object[] }>(fleet, 'GET', '/public/v2/events');
    expect(data).toHaveLength(1);
  });
  return made.data[0]?.id ?? '';
}

describeInBrowser('The texts of others in the console', () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    await waypost.createFleet(fleet);
  }, 120_000);

  afterAll(() => receiver.close());

  it('neither run nor turn what stands beside them, on any page', async () => {
    const subscription = await fill();
    const { page, problems, open, context } = await visitConsole(browser(), waypost, fleet);
    const device = encodeURIComponent(HOSTILE);
    const eventId = receiver.callsTo('/hostile')[0]?.eventId ?? '';
    const looks = new Map<string, (shown: Page) => Promise<unknown>>([
      ['/deliveries', (shown) => shown.getByRole('cell', { name: HOSTILE }).waitFor()],
      [`/deliveries?deviceId=${device}`, (shown) => shown.getByRole('cell', { name: HOSTILE }).waitFor()],
      [`/deliveries/${eventId}`, (shown) => shown.getByText('Attempt 1').waitFor()],
      ['/subscriptions', (shown) => shown.getByText(HOSTILE).first().waitFor()],
      [`/subscriptions/${subscription}`, (shown) => shown.getByText('Metadata').waitFor()],
      ['/vehicles', (shown) => shown.getByRole('link', { name: HOSTILE }).first().waitFor()],
      [`/vehicles?deviceId=${device}`, (shown) => shown.locator('canvas').waitFor()],
      ['/overview', (shown) => shown.locator('canvas').first().waitFor()],
    ]);
    const turned: unknown[] = [];
    for (const [path, wait] of looks) {
      await open(path);
      await wait(page);
      turned.push(...(await page.evaluate<string[]>(TURNED)));
    }
    expect(turned).toEqual([]);
    expect(await page.evaluate('window.wasRun')).toBeUndefined();
    expect(problems).toEqual([]);
    await context.close();
  });
});
