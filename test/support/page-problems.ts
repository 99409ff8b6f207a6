import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What a page breaks of the rules of accessibility, and whether it is wider than the screen. */
export async function pageProblems(page: Page): Promise<string[]> {
  const cdp = await page.context().newCDPSession(page);
  // The content security policy keeps scripts out of the page, also those of tests.
  await cdp.send('Page.setBypassCSP', { enabled: true });
  await page.evaluate(axeSource);
  const found = await page.evaluate(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
  );
  return [...(found as string[]), ...(await overflowOf(page))];
}

/** Whether a page is wider than the screen. */
export async function overflowOf(page: Page): Promise<string[]> {
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  return overflow > 0 ? [`${page.url()} is ${String(overflow)} px too wide`] : [];
}
