import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../../test/support/browser.js';
import { writeBusyHistory } from '../../test/support/busy-history.js';
import { ok, startReceiver } from '../../test/support/receiver.js';
import { startWaypost, type Waypost } from '../../test/support/start-waypost.js';
import { subscribe } from '../../test/support/subscriptions.js';
import { type Percentiles, percentilesOf } from '../shared/statistics.js';
import { openKeptHistory } from './kept-history.js';
import { fastStream, filterMs, frameIntervals, NOTE_FIRST_VIEW } from './page-probes.js';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rows: { type: 'string', default: '2000' },
    'tail-only': { type: 'boolean', default: false },
    history: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (flags.help) {
  process.stdout.write(
    'npm run bench:console -- [--seconds 60: of the live tail] [--rows 2000: per second in it] [--tail-only]\n' +
      '  [--history .waypost/bench-history: deliveries that `npm run bench:history -- --keep` has left]\n',
  );
  process.exit(0);
}

const [seconds, rows] = [Number(flags.seconds), Number(flags.rows)];
const EMPTY_SECONDS = 5;
const SCROLL_SECONDS = 5;
const SCROLL_PX = 60;
const REPETITIONS = 10;
/** Code is compiled again and again at first, which takes memory once. */
const WARM_UP_SECONDS = 10;

const executablePath = await findChromium();
if (executablePath === null) throw new Error('There is no Chromium: npm run install-chromium');
const kept = flags.history === undefined ? null : await openKeptHistory(flags.history);
const [fleetId, list] =
  kept === null ? ['bench-console', '/deliveries?range=1h'] : [kept.fleetId, '/deliveries?range=all'];
const waypost = await startWaypost(kept === null ? {} : { env: { DATABASE_URL: kept.databaseUrl } });
const browser = await launchChromium(executablePath);
try {
  await waypost.cli('fleet', 'create', fleetId);
  if (kept === null) await writeHour();
  const measured = {
    rows,
    seconds,
    emptyPage: await emptyPage(),
    ...(flags['tail-only'] ? {} : await measurePages()),
    tail: await withPage('/deliveries?view=live', tail, fastStream(rows)),
  };
  process.stdout.write(`${JSON.stringify(measured)}\n`);
} finally {
  await browser.close();
  await waypost.stop();
  await kept?.stop();
}

async function measurePages() {
  return {
    firstViewMs: await repeated(firstView),
    filterToRowsMs: await withPage(list, (page) => filterTimes(page)),
    scrolling: await withPage(list, scrolling),
  };
}

/** No page has more frames than one with nothing in it, on this machine and at this time. */
async function emptyPage(): Promise<Frames> {
  const page = await browser.newPage();
  const result = await frames(page, EMPTY_SECONDS, 0);
  await page.close();
  return result;
}

/** From its first rows on: what the page goes on to load, and the rows that scrolling asks for, take their part of the time. */
async function scrolling(page: Page): Promise<Frames> {
  await page.getByRole('row').nth(5).waitFor();
  return frames(page, SCROLL_SECONDS, SCROLL_PX);
}

async function writeHour(): Promise<void> {
  const receiver = await startReceiver(ok);
  const types = ['position', 'ignition_on'];
  const subscriptions = await subscribe(waypost, { fleet: fleetId, url: receiver.url('/hooks'), types });
  await receiver.close();
  const endpoints = subscriptions.map(({ id, url, eventType }) => ({
    subscriptionId: id,
    url,
    eventType,
    perMinute: 60,
    answer: (_: number, random: number) => (random < 0.3 ? 422 : 200),
  }));
  await writeBusyHistory(waypost.info().databaseUrl, { fleetId, endpoints, nowMs: Date.now(), minutes: 59 });
}

async function withPage<Result>(
  path: string,
  use: (page: Page) => Promise<Result>,
  script?: string,
  from: Browser = browser,
): Promise<Result> {
  // What measures is evaluated from text, which the policy of the console forbids.
  const context = await from.newContext({ bypassCSP: true, locale: 'en-GB', viewport: { width: 1_440, height: 900 } });
  const page = await context.newPage();
  if (script !== undefined) await page.addInitScript(script);
  await page.goto(addressOf(waypost, path));
  const result = await use(page);
  await context.close();
  return result;
}

function addressOf(at: Waypost, path: string): string {
  return new URL(`${path}#key=${at.info().apiKeys[fleetId] ?? ''}`, at.info().apiUrl).href;
}

/** In a context without a cache. */
function firstView(): Promise<number> {
  return withPage(
    '/overview',
    async (page) => {
      await page.waitForFunction('window.firstViewMs !== undefined');
      return Number(await page.evaluate('window.firstViewMs'));
    },
    NOTE_FIRST_VIEW,
  );
}

async function filterTimes(page: Page): Promise<Spread> {
  await page.getByRole('row').nth(5).waitFor();
  const times: number[] = [];
  for (let count = 0; count < REPETITIONS; count++)
    for (const status of ['failed', 'delivered']) times.push(Number(await page.evaluate(filterMs(status))));
  return spread(times);
}

async function frames(page: Page, forSeconds: number, scrollPx: number): Promise<Frames> {
  const intervals = await page.evaluate<number[]>(frameIntervals(forSeconds, scrollPx));
  const total = intervals.reduce((sum, interval) => sum + interval, 0);
  return { perSecond: rounded((1_000 * intervals.length) / total), intervalMs: spread(intervals) };
}

/** What it holds after a collection of garbage, at its beginning, its middle and its end: the same, however long it runs. */
async function tail(page: Page) {
  // From then on it keeps as many as ever.
  await page.getByText('the newest 1,000 are kept').waitFor();
  await frames(page, WARM_UP_SECONDS, 0);
  const held = [await holding(page)];
  const halves: Frames[] = [];
  for (const _ of ['first', 'second']) {
    halves.push(await frames(page, seconds / 2, 0));
    held.push(await holding(page));
  }
  return { halves, heapMb: held.map(({ heapMb }) => heapMb), nodes: held.map(({ nodes }) => nodes) };
}

async function holding(page: Page): Promise<{ readonly heapMb: number; readonly nodes: number }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  const { nodes } = await cdp.send('Memory.getDOMCounters');
  await cdp.detach();
  return { heapMb: rounded(usedSize / 1_048_576), nodes };
}

type Spread = Pick<Percentiles, 'p50' | 'p99' | 'most'>;

interface Frames {
  readonly perSecond: number;
  readonly intervalMs: Spread;
}

async function repeated(measure: () => Promise<number>): Promise<Spread> {
  const times: number[] = [];
  for (let count = 0; count < REPETITIONS; count++) times.push(await measure());
  return spread(times);
}

function spread(values: readonly number[]): Spread {
  const { p50, p99, most } = percentilesOf(values);
  return { p50: rounded(p50), p99: rounded(p99), most: rounded(most) };
}

function rounded(value: number): number {
  return Math.round(10 * value) / 10;
}
