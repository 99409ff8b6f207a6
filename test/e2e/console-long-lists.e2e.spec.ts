import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInBrowser, startBrowser } from '../support/browser-suite.js';
import { type ConsoleVisit, visitConsole } from '../support/console-visit.js';
import { pageProblems } from '../support/page-problems.js';
import { runningWaypost } from '../support/running-waypost.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'console-long-lists';
const waypost = runningWaypost(sharedDataDir());
const SCROLL_DOWN = 'scrollTo(0, document.documentElement.scrollHeight)';
const browser = startBrowser();
let visit: ConsoleVisit;
let page: Page;

/** Newest first, a second apart. */
function delivery(n: number) {
  const at = new Date(Date.UTC(2026, 4, 4) - 1_000 * n).toISOString();
  const eventId = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const subscriptionId = '00000000-0000-4000-8000-00000000aaaa';
  const event = { eventId, eventType: 'position', eventTime: at, deviceId: `van-${String(n)}`, subscriptionId };
  const attempt = { attempt: 1, dueAt: at, startedAt: at, durationMs: 5, statusCode: 200 };
  const { statusCode } = attempt;
  const about = { status: 'delivered', series: 0, statusCode, attemptCount: 1, firstAttemptAt: at, lastAttemptAt: at };
  return { ...event, format: 'v1', payload: {}, delivery: { ...about, attempts: [attempt] } };
}

/** As the stream has them, from the `first` on. */
function attempts(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => {
    const n = first + index;
    const startedAt = new Date(Date.UTC(2026, 4, 4) + n).toISOString();
    const data = { eventId: String(n), eventType: 'position', deviceId: `van-${String(n)}`, attempt: 1, startedAt };
    return `id: ${String(n)}\ndata: ${JSON.stringify({ ...data, status: 'delivered', statusCode: 200, durationMs: 5 })}\n\n`;
  }).join('');
}

describeInBrowser('A long list of the console', () => {
  beforeAll(async () => {
    await waypost.createFleet(fleet);
  }, 60_000);

  beforeEach(async () => {
    visit = await visitConsole(browser(), waypost, fleet);
    page = visit.page;
  });

  afterEach(async () => {
    await visit.context.close();
  });

  it('ends after 50,000 deliveries, and leads to those that follow', async () => {
    const asked: string[] = [];
    await page.route('**/public/v2/events?*limit=100*', (route) => {
      const first = 10_000 * asked.length;
      asked.push(route.request().url());
      const data = Array.from({ length: 10_000 }, (_, index) => delivery(first + index));
      return route.fulfill({ json: { data, nextPageState: 'more', searchedUntil: null, completeUntil: null } });
    });
    await visit.open('/deliveries?status=delivered&from=2026-05-01T00:00:00.000Z');
    const next = page.getByRole('link', { name: 'Go on with the older ones' });
    await until(async () => {
      await page.evaluate(SCROLL_DOWN);
      expect(await next.count()).toBe(1);
    });
    expect([asked.length, await page.getByText('50,000 deliveries, and there are more.').count()]).toEqual([5, 1]);
    // The last is 49,999 s before midnight; the end of a window is not a part of it.
    const expected = new URLSearchParams({
      status: 'delivered',
      from: '2026-05-01T00:00:00.000Z',
      to: '2026-05-03T10:06:41.001Z',
    });
    expect(await next.getAttribute('href')).toBe(`/deliveries?${expected.toString()}`);
    expect(visit.problems).toEqual([]);
  });

  it('of probes has a gap where the history keeps none, and the end of its delivery is no attempt (R-29)', async () => {
    const { eventId, delivery: about, ...event } = delivery(1);
    const [attempt] = about.attempts;
    const probes = Array.from({ length: 40 }, () => ({ ...attempt, probe: true, statusCode: 503 }));
    const { statusCode: _, ...end } = { ...attempt, error: 'expired' };
    const held = { ...about, status: 'failed', attemptCount: 0, probeCount: 5_760, attempts: [...probes, end] };
    await page.route(`**/public/v2/events/${eventId}?*`, (route) =>
      route.fulfill({ json: { data: [{ eventId, ...event, body: '{}', delivery: held }], nextPageState: null } }),
    );
    await visit.open(`/deliveries/${eventId}`);
    await page.getByText('Not accepted in 5,760 probes, and not retried: it had waited for too long.').waitFor();
    const lines = await page.locator('.timeline li').allInnerTexts();
    expect(lines).toHaveLength(42);
    expect(lines[20]).toBe('5,720 more probes, which the history does not keep');
    expect(lines[40]).toContain('Probe 5,760');
    expect(lines[41]).toMatch(/^End\b.*Nothing was sent: it had waited for too long$/s);
    expect(await page.getByText('Headers of the last probe').count()).toBe(1);
    expect(await pageProblems(page)).toEqual([]);
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
