import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { writeBusyHistory } from '../support/busy-history.js';
import { type BusyEndpoint, type BusyHour, busyHour } from '../support/busy-hour.js';
import { visitConsole } from '../support/console-visit.js';
import { overflowOf, pageProblems } from '../support/page-problems.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'northwind';
/** A small one, in pixels. */
const PHONE = 360;
/** Where to keep pictures for the documentation; `npm run console:pictures` does. */
const PICTURES = process.env['WAYPOST_PICTURES'];
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined || PICTURES !== undefined;
const waypost = runningWaypost(sharedDataDir());

/** How often each type happens, and how its endpoint answers: one was down for six minutes, one is slow and refuses some. */
const ENDPOINTS: readonly Pick<BusyEndpoint, 'eventType' | 'perMinute' | 'answer'>[] = [
  { eventType: 'position', perMinute: 26, answer: (_, random) => (random < 0.015 ? 503 : 200) },
  { eventType: 'ignition_on', perMinute: 6, answer: () => 204 },
  { eventType: 'stop_started', perMinute: 4, answer: (ago, random) => (ago > 21 && ago < 27 ? outage(random) : 200) },
  { eventType: 'route_finished', perMinute: 3, answer: (_, random) => (random < 0.06 ? 422 : 202) },
  { eventType: 'position_sleep', perMinute: 4, answer: (ago, random) => (ago < 0.9 || random < 0.1 ? 503 : 200) },
];

function outage(random: number): number | null {
  return random < 0.3 ? null : 503;
}

const browser = startBrowser();
let receiver: Receiver;
let hour: BusyHour;

describeInBrowser('The console of a busy fleet', () => {
  beforeAll(async () => {
    receiver = await startReceiver();
    await waypost.createFleet(fleet);
    const types = ENDPOINTS.map(({ eventType }) => eventType);
    const subscriptions = await subscribe(waypost, { fleet, url: receiver.url('/hooks/northwind'), types });
    const endpoints = ENDPOINTS.flatMap((endpoint) =>
      subscriptions
        .filter(({ eventType }) => eventType === endpoint.eventType)
        .map(({ id, url }) => ({ ...endpoint, subscriptionId: id, url })),
    );
    hour = { fleetId: fleet, endpoints, nowMs: Date.now(), minutes: 59 };
    await writeBusyHistory(waypost.info().databaseUrl, hour);
    const shape = { type: 'circle', center: { latitude: 48.142, longitude: 11.56 }, radiusInMeters: 900 };
    await waypost.api(fleet, 'POST', '/public/v1/geofences', { name: 'Depot', shape });
  }, 120_000);

  afterAll(() => receiver.close());

  async function picture(page: Page, name: string): Promise<void> {
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  }

  it.each(isLong ? [PHONE, 3_840] : [PHONE])('fits a screen of %d px', async (width) => {
    const { context, page, open } = await visitConsole(browser(), waypost, fleet, { viewport: { width, height: 800 } });
    const found: string[] = [];
    for (const path of [
      '/overview',
      '/deliveries',
      '/deliveries?view=live',
      '/vehicles?deviceId=van-07',
      '/vehicles',
    ]) {
      await open(path);
      await page.locator('table, [role=table], canvas, .state').first().waitFor();
      found.push(...(await overflowOf(page)));
      if (width === PHONE && path === '/vehicles?deviceId=van-07') await picture(page, 'phone');
    }
    expect(found).toEqual([]);
    await context.close();
  });

  it.each(isLong ? (['light', 'dark'] as const) : (['light'] as const))(
    'is worth looking at, accessible, and at home in %s',
    async (colorScheme) => {
      const visit = await visitConsole(browser(), waypost, fleet, {
        colorScheme,
        viewport: { width: 1_280, height: 800 },
      });
      const { context, page, open } = visit;
      const found: string[] = [];

      await open('/overview');
      await until(async () => expect(await page.getByRole('figure').locator('canvas').count()).toBe(4));
      await page.getByRole('listitem').filter({ hasText: 'stop_started' }).getByText('failed').waitFor();
      found.push(...(await pageProblems(page)));
      await picture(page, `overview-${colorScheme}`);

      await open('/deliveries');
      await page.getByRole('row').filter({ hasText: 'delivered' }).first().waitFor();
      found.push(...(await pageProblems(page)));
      await picture(page, `deliveries-${colorScheme}`);

      const failed = busyHour(hour).find(({ outcome, attempt }) => outcome === 'failed' && attempt === 5);
      await open(`/deliveries/${failed?.eventId ?? ''}`);
      await page.getByText('Attempt 5').waitFor();
      found.push(...(await pageProblems(page)));
      await picture(page, `delivery-${colorScheme}`);

      await open('/vehicles?deviceId=van-07');
      await page.getByRole('figure').waitFor();
      found.push(...(await pageProblems(page)));
      await picture(page, `vehicle-${colorScheme}`);

      await page.goto(new URL('/vehicles', waypost.info().apiUrl).href);
      await page.getByRole('link', { name: 'Depot' }).click();
      await page.getByText('Drag its center or its edge').waitFor();
      found.push(...(await pageProblems(page)));

      await open(`/subscriptions/${hour.endpoints[0]?.subscriptionId ?? ''}`);
      await until(async () => expect(await page.getByRole('figure').locator('canvas').count()).toBe(2));
      found.push(...(await pageProblems(page)));
      await picture(page, `subscription-${colorScheme}`);

      expect([...found, ...visit.problems]).toEqual([]);
      await context.close();
    },
  );
});
