import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { RunningWaypost } from './running-waypost.js';

/** One person at the console of a fleet. */
export interface ConsoleVisit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors of the page, and what it logs as one. */
  readonly problems: readonly string[];
  address(path: string): string;
  /** Signed in by a link, with its heading shown. `as`: in place of that fleet. */
  open(path: string, as?: string): Promise<void>;
}

export async function visitConsole(
  browser: Browser,
  waypost: RunningWaypost,
  fleet: string,
  options: BrowserContextOptions = {},
): Promise<ConsoleVisit> {
  // Without a language, a Chromium of a machine without one names one that does not exist. An animation without an end keeps
  // a machine without a GPU busy.
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  const address = (path: string): string => new URL(path, waypost.info().apiUrl).href;
  return {
    context,
    page,
    problems,
    address,
    async open(path, as = fleet) {
      await page.goto(`${address(path)}#key=${waypost.info().apiKeys[as] ?? ''}`);
      // An address of which only the fragment has changed is loaded by the page itself.
      await page.waitForURL(({ hash }) => hash === '');
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
  };
}
