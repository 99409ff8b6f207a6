import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { findChromium, launchChromium } from './browser.js';

const executablePath = await findChromium();

/** Skipped on a machine without Chromium. */
export const describeInBrowser = executablePath === null ? describe.skip : describe;

/** One browser for all tests of the file that calls it. */
export function startBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (executablePath !== null) browser = await launchChromium(executablePath);
  }, 60_000);
  afterAll(() => browser?.close());
  return () => {
    if (browser === undefined) throw new Error('The browser is open during tests only.');
    return browser;
  };
}
