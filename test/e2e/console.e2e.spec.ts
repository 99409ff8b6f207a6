import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { findChromium } from '../support/browser.js';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { pageProblems } from '../support/page-problems.js';
import { type ReceivedCall, type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { signatureProblem } from '../support/signature-problem.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console';
/** An id that a careless page would run. */
const HOSTILE = '<img src=x onerror="window.wasRun = true"><script>window.wasRun = true</script>';
const DRIVING = 'van/9.5 & co';
/** Every page that polls does so within this time. */
const A_READ_LATER_MS = 15_000;
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;

if ((await findChromium()) === null)
  process.stderr.write('No Chromium: the tests of the console are skipped. `npm run install-chromium` brings one.\n');

const waypost = runningWaypost(sharedDataDir());
const browser = startBrowser();
let visit: ConsoleVisit;
let page: Page;
let receiver: Receiver;

/** Twenty minutes eastwards, a ping each, until now; a tracker without a fix at the end. */
function drive(): object[] {
  const endMs = Date.now();
  const moving = Array.from({ length: 20 }, (_, minute) => ({
    deviceId: DRIVING,
    eventTime: new Date(endMs - (20 - minute) * 60_000).toISOString(),
    latitude: 52.1,
    longitude: 11.6 + minute / 100,
    speedInKmh: 30 + minute,
  }));
  return [...moving, { deviceId: DRIVING, eventTime: new Date(endMs).toISOString() }];
}

/** Refuses the first attempt of each event of van-2. */
function answer({ body, headers }: ReceivedCall) {
  const isFirst = headers['x-service-attempt'] === '1';
  return { type: 'respond', status: isFirst && body.toString().includes('van-2') ? 503 : 200 } as const;
}

/** The share of the map's columns in which something is drawn in color, as the path is; the graticule is gray. */
const COLUMNS_WITH_INK = `(() => {
  const canvas = document.querySelector('canvas');
  const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let columns = 0;
  for (let x = 0; x < width; x++)
    for (let y = 0; y < height; y++) {
      const [red, green, blue, alpha] = data.subarray(4 * (y * width + x));
      if (alpha > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) { columns++; break; }
    }
  return columns / width;
})()`;

describeInBrowser('The console', () => {
  beforeAll(async () => {
    receiver = await startReceiver(answer);
    await waypost.createFleet(fleet);
    await subscribe(waypost, { fleet, url: receiver.url('/console'), types: ['position'] });
    const pings = ['van-1', 'van-2', HOSTILE].map((deviceId) => ({
      deviceId,
      eventTime: '2026-05-04T08:00:00.000Z',
      latitude: 52.1,
      longitude: 11.6,
    }));
    await waypost.publish(fleet, [...pings, ...drive()]);
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

  it('draws the deliveries of the last hour, and leads from a figure to what it counts (R-41)', async () => {
    await visit.open('/overview');
    const figure = (name: string) => page.locator('.tiles > div').filter({ hasText: name }).getByRole('link');
    await until(async () => expect(Number(await figure('Deliveries').textContent())).toBeGreaterThanOrEqual(10));
    expect(await figure('Success rate').textContent()).toBe('100 %');
    const charts = page.getByRole('figure');
    await until(async () => expect(await charts.locator('canvas').count()).toBe(4));
    // One minute has deliveries: its bar, and its point in each of the lines.
    for (let index = 0; index < 4; index++) await until(async () => expect(await inkOf(index)).toBeGreaterThan(0));
    await page.getByText('All figures as a table').click();
    expect(await page.getByRole('row').count()).toBe(61);
    await page
      .getByRole('listitem')
      .filter({ hasText: /retr(y|ies)/ })
      .getByText('position')
      .waitFor();
    await figure('Failed').click();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    // From the start of the first minute on, as the figure.
    expect(page.url()).toMatch(/\/deliveries\?status=failed&from=[^&]*%3A00\.000Z$/);
  });

  it('shows the figures under the pointer, and the same range again by its address', async () => {
    await visit.open('/overview');
    const chart = page.getByRole('figure').first();
    await chart.locator('canvas').waitFor();
    const box = await chart.locator('.u-over').boundingBox();
    if (!box) throw new Error('The chart is not shown.');
    const before = await page.locator('.charts').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await until(async () => expect(await page.getByRole('figure').locator('time').count()).toBe(4));
    const total = await chart.getByRole('listitem').first().locator('strong').textContent();
    expect(total).toBe('0');
    await page.getByRole('button', { name: '24 hours' }).click();
    await page.waitForURL(/overview\?range=day/);
    await chart.getByText('Deliveries per hour').waitFor();
    expect(await page.locator('.charts').boundingBox()).toEqual(before);
    await page.reload();
    await chart.getByText('Deliveries per hour').waitFor();
    expect(visit.problems).toEqual([]);
  });

  it('keeps the figures while the API does not respond, and says how old they are', async () => {
    await page.clock.install();
    await visit.open('/overview');
    await page.getByRole('figure').first().locator('canvas').waitFor();
    await page.route('**/public/v2/metrics*', (route) => route.abort());
    await page.clock.fastForward(A_READ_LATER_MS);
    await page.getByRole('status').filter({ hasText: 'Not updated since' }).first().waitFor();
    expect(await page.getByRole('figure').locator('canvas').count()).toBe(4);
    await page.unroute('**/public/v2/metrics*');
    await page.clock.fastForward(A_READ_LATER_MS);
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('keeps a page with what is typed in it while the API does not respond, and says how old it is', async () => {
    const outdated = page.getByRole('status').filter({ hasText: 'Not updated since' });
    await page.clock.install();
    await visit.open('/subscriptions');
    await page.getByRole('link', { name: 'position' }).first().click();
    await page.getByLabel('Device', { exact: true }).fill('van-7');
    await page.route(/webhook-subscriptions\/[0-9a-f-]+$/, (route) => route.abort());
    await page.clock.fastForward(A_READ_LATER_MS);
    await outdated.waitFor();
    expect(await page.getByLabel('Device', { exact: true }).inputValue()).toBe('van-7');

    await visit.open('/vehicles');
    await page.getByRole('link', { name: DRIVING }).waitFor();
    await page.getByLabel('Find a vehicle').fill('van');
    await page.route('**/public/v1/paths?*', (route) => route.abort());
    await page.clock.fastForward(A_READ_LATER_MS);
    await outdated.waitFor();
    expect(await page.getByLabel('Find a vehicle').inputValue()).toBe('van');
  });

  it('loads less than 150 kB for its first view with its charts, compressed and without its font', async () => {
    const sizes: Promise<number>[] = [];
    page.on('response', (response) => {
      // Text is shown before its font is there.
      if (!/\/public\/|\.woff2$/.test(response.url()))
        sizes.push(response.body().then((body) => gzipSync(body).length));
    });
    await visit.open('/overview');
    await page.getByRole('figure').first().locator('canvas').waitFor();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(150_000);
  });

  it('lists deliveries by filters that are in the address', async () => {
    await visit.open('/deliveries');
    const rows = page.getByRole('row').filter({ hasText: 'position' });
    await until(async () => expect(await rows.count()).toBeGreaterThanOrEqual(3));
    await page.getByLabel('Device').fill('van-2');
    await page.getByLabel('Device').press('Enter');
    await until(async () => expect(await rows.count()).toBe(1));
    expect(page.url()).toBe(visit.address('/deliveries?deviceId=van-2'));

    await visit.open('/deliveries?deviceId=van-1&status=failed');
    await page.getByText('No delivery matches these filters').waitFor();
    expect(await page.getByLabel('Device').inputValue()).toBe('van-1');
  });

  it('shows every attempt of a delivery with what came back, and the body as it was sent', async () => {
    await visit.open('/deliveries?deviceId=van-2');
    await page.getByRole('row').filter({ hasText: 'van-2' }).getByRole('link').click();
    await page.getByText('Attempt 2').waitFor();
    const attempts = await page.locator('.timeline li').allTextContents();
    expect(attempts.map((text) => /503|200/.exec(text)?.[0])).toEqual(['503', '200']);
    const sent = receiver.calls.find(({ body }) => body.toString().includes('van-2'));
    expect(JSON.parse((await page.locator('details[open] pre').textContent()) ?? '')).toEqual(
      JSON.parse(String(sent?.body)),
    );
  });

  it('resends one event, and shows the delivery that this makes (R-33)', async () => {
    await visit.open('/deliveries?deviceId=van-1');
    await page.getByRole('row').filter({ hasText: 'van-1' }).getByRole('link').click();
    const deliveries = page.locator('section.card');
    await deliveries.first().waitFor();
    const received = () => receiver.calls.filter(({ body }) => body.toString().includes('van-1'));
    const [first] = received();
    expect(await deliveries.count()).toBe(1);
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('status').filter({ hasText: 'passed to the sender' }).waitFor();
    await page.getByText('by a replay').waitFor();
    expect(await deliveries.count()).toBe(2);
    const sent = received().map(({ eventId, body }) => [eventId, body.toString()]);
    expect(sent).toEqual([1, 2].map(() => [first?.eventId, first?.body.toString()]));
    expect(visit.problems).toEqual([]);

    // One more, whose delivery cannot be read.
    await page.route(/public\/v2\/events\/[0-9a-f-]+\?/, (route) => route.abort());
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('status').filter({ hasText: 'Not updated since' }).waitFor();
    expect(await deliveries.count()).toBe(2);
  });

  it('makes a subscription, shows its secret, and sends a test event that verifies with it', async () => {
    await visit.open('/subscriptions/new');
    const url = receiver.url('/console-test');
    await page.getByLabel('URL that receives the events').fill(url);
    await page.getByLabel('ignition_on').check();
    await page.getByRole('button', { name: 'Create' }).click();
    const secret = (await page.locator('code').filter({ hasText: 'whsec_' }).textContent()) ?? '';
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('Your endpoint responded with 200').waitFor();
    const [call] = receiver.callsTo('/console-test');
    if (!call) throw new Error('The test event has not arrived.');
    expect(signatureProblem(call, secret)).toBeNull();

    await page.getByRole('link', { name: 'ignition_on' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Activate' }).waitFor();
    expect(await page.locator('.badge').first().textContent()).toContain('paused');
  });

  it('shows a subscription whose deliveries are held as suspended, not as active (R-29)', async () => {
    // As of one whose endpoint has failed for five minutes.
    await page.route(/webhook-subscriptions\?/, async (route) => {
      const response = await route.fetch();
      const { data, ...more } = (await response.json()) as { data: { eventType: string }[] };
      const held = data.map((one) => (one.eventType === 'position' ? { ...one, suspended: true } : one));
      await route.fulfill({ response, json: { ...more, data: held } });
    });
    await visit.open('/overview');
    await page.locator('.tiles').getByText('1 suspended').waitFor();
    await visit.open('/subscriptions');
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'position', exact: true }) });
    expect(await row.locator('.badge').textContent()).toContain('suspended');
    expect(await pageProblems(page)).toEqual([]);
  });

  it('shows the vehicles on a map, and the path of one beside its speed', async () => {
    // As of a vehicle that has more points than a page.
    await page.route(/public\/v1\/paths\?/, (route) =>
      route.continue({
        url: route
          .request()
          .url()
          .replace(/limit=\d+/, 'limit=8'),
      }),
    );
    await visit.open('/vehicles');
    await page.getByRole('img', { name: /vehicles/ }).waitFor();
    await page.getByRole('link', { name: DRIVING }).click();
    await page.getByRole('heading', { name: DRIVING }).waitFor();
    await page.locator('polyline').waitFor();
    const speeds = (await page.locator('polyline').getAttribute('points')) ?? '';
    expect(speeds.split(' ')).toHaveLength(20);
    expect([await page.title(), await page.evaluate('document.activeElement.id')]).toEqual([
      `${DRIVING} - Waypost`,
      'main',
    ]);
    // From the left to the right end of the fitted map.
    const drawn = await until(async () => {
      const columns = await page.evaluate<number>(COLUMNS_WITH_INK);
      if (columns < 0.8) throw new Error(`Only ${String(columns)} of the columns of the map are drawn.`);
      return columns;
    });
    expect(drawn).toBeLessThanOrEqual(1);
    for (const [width, isBeside] of [
      [1_600, true],
      [1_280, false],
    ] as const) {
      await page.setViewportSize({ width, height: 720 });
      const [map, graph] = [await page.locator('canvas').boundingBox(), await page.locator('.graph').boundingBox()];
      expect((graph?.x ?? 0) > (map?.x ?? 0) + (map?.width ?? 0)).toBe(isBeside);
    }
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await until(async () => expect(await page.evaluate(COLUMNS_WITH_INK)).toBeLessThan(0.8));
    await page.getByRole('main').getByRole('link', { name: 'Vehicles' }).click();
    await page.getByRole('heading', { name: 'Vehicles', exact: true }).waitFor();
    await until(async () =>
      expect([await page.title(), await page.evaluate('document.activeElement.id')]).toEqual([
        'Vehicles - Waypost',
        'main',
      ]),
    );
  });

  it('shows what others wrote as text, and runs nothing of it', async () => {
    await visit.open(`/deliveries?deviceId=${encodeURIComponent(HOSTILE)}`);
    await page.getByRole('row').filter({ hasText: HOSTILE }).getByRole('link').click();
    expect(await page.locator('details[open] pre').textContent()).toContain('onerror');
    expect(await page.evaluate('window.wasRun')).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
    expect(visit.problems).toEqual([]);
  });

  it('can be used with the keyboard alone', async () => {
    await visit.open('/deliveries');
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('van-1');
    await page.keyboard.press('Enter');
    await page.waitForURL(/deviceId=van-1/);
  });

  /** Points of the n-th chart that are neither its background nor its axes: of full strength, and no gray. */
  function inkOf(index: number): Promise<number> {
    return page.evaluate(`(() => {
      const canvas = document.querySelectorAll('figure canvas')[${String(index)}];
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let ink = 0;
      for (let at = 0; at < data.length; at += 4) {
        const [red, green, blue] = [data[at], data[at + 1], data[at + 2]];
        if (data[at + 3] > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) ink++;
      }
      return ink;
    })()`);
  }

  it.each([
    ['dark', 360],
    // The console of a busy fleet is looked at in these on each push.
    ...(isLong
      ? ([
          ['light', 360],
          ['light', 1_280],
          ['dark', 1_280],
        ] as const)
      : []),
  ] as const)('is accessible on every screen, %s and %d px wide', async (colorScheme, width) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await page.goto(visit.address('/'));
    await page.getByLabel('API key').waitFor();
    const found = [await pageProblems(page)];
    await visit.open('/overview');
    await page.getByRole('figure').first().locator('canvas').waitFor();
    found.push(await pageProblems(page));
    await visit.open('/deliveries');
    await page.getByRole('row').filter({ hasText: 'van-1' }).first().waitFor();
    found.push(await pageProblems(page));
    await visit.open('/deliveries?deviceId=van-2');
    await page.getByRole('row').filter({ hasText: 'van-2' }).first().getByRole('link').click();
    await page.getByText('Attempt 2').waitFor();
    found.push(await pageProblems(page));
    await visit.open('/subscriptions');
    found.push(await pageProblems(page));
    await page.getByRole('link', { name: 'position' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    found.push(await pageProblems(page));
    await visit.open('/subscriptions/new');
    found.push(await pageProblems(page));
    await visit.open('/vehicles');
    found.push(await pageProblems(page));
    await visit.open(`/vehicles?deviceId=${encodeURIComponent(DRIVING)}`);
    await page.locator('polyline').waitFor();
    found.push(await pageProblems(page));
    await visit.open('/deliveries?status=pending');
    found.push(await pageProblems(page));
    expect(found.flat()).toEqual([]);
  });
});
