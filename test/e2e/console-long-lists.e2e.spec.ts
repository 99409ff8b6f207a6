import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../support/browser.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { runningWaypost } from '../support/running-waypost.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-long-lists';
const executablePath = await findChromium();
const waypost = runningWaypost(sharedDataDir());
const SCROLL_DOWN = 'scrollTo(0, document.documentElement.scrollHeight)';
let browser: Browser;
let visit: ConsoleVisit;
let page: Page;

/** As the stream has them, from the `first` on. */
function attempts(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => {
    const n = first + index;
    const startedAt = new Date(Date.UTC(2026, 4, 4) + n).toISOString();
    const data = { eventId: String(n), eventType: 'position', deviceId: `van-${String(n)}`, attempt: 1, startedAt };
    return `id: ${String(n)}\ndata: ${JSON.stringify({ ...data, status: 'delivered', statusCode: 200, durationMs: 5 })}\n\n`;
  }).join('');
}

(executablePath === null ? describe.skip : describe)('A long list of the console', () => {
  beforeAll(async () => {
    if (executablePath) browser = await launchChromium(executablePath);
    await waypost.cli('fleet', 'create', fleet);
  }, 60_000);

  afterAll(async () => {
    await browser.close();
  });

  beforeEach(async () => {
    visit = await visitConsole(browser, waypost, fleet);
    page = visit.page;
  });

  afterEach(async () => {
    await visit.context.close();
  });

  it('of attempts does not move while somebody reads it, however many arrive', async () => {
    let arriveNow: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (arriveNow = resolve));
    let connections = 0;
    await page.route(/\/public\/v2\/stream/, async (route) => {
      connections += 1;
      const contentType = 'text/event-stream';
      if (connections === 1) return route.fulfill({ contentType, body: attempts(1, 60) });
      if (connections > 2) return undefined;
      await held;
      return route.fulfill({ contentType, body: attempts(61, 3_000) });
    });
    await visit.open('/deliveries?view=live');
    const rows = page.locator('[data-row]');
    await rows.first().waitFor();
    await page.evaluate(SCROLL_DOWN);
    await page.getByText('van-1', { exact: true }).waitFor();
    arriveNow();
    await page.getByRole('button', { name: 'Show 3,000 newer' }).waitFor();
    expect(await page.getByText('van-1', { exact: true }).count()).toBe(1);
    await page.getByRole('button', { name: 'Show 3,000 newer' }).click();
    await page.getByText('van-3060', { exact: true }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
});
