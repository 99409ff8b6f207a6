import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';

/** Where Debian, Ubuntu, Fedora and Google install it. */
const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Where `npm run install-chromium` puts the package that brings one. */
const PACKAGED = fileURLToPath(new URL('../../.waypost/chromium/', import.meta.url));

/** This machine, which a page takes for another one: over HTTP it is not a secure context. */
export const REMOTE_HOST = 'console.waypost.test';

interface ChromiumPackage {
  readonly default: { executablePath(): Promise<string> };
}

/** The Chromium of this machine: that of WAYPOST_CHROMIUM, an installed one, or a packaged one; null: there is none. */
export async function findChromium(): Promise<string | null> {
  const installed = [process.env['WAYPOST_CHROMIUM'], ...INSTALLED].find((path) => path && existsSync(path));
  if (installed) return installed;
  if (!existsSync(`${PACKAGED}node_modules/@sparticuz/chromium`)) return null;
  const entry = createRequire(`${PACKAGED}package.json`).resolve('@sparticuz/chromium');
  const { default: packaged } = (await import(pathToFileURL(entry).href)) as ChromiumPackage;
  return packaged.executablePath();
}

export function launchChromium(executablePath: string): Promise<Browser> {
  // As root, which CI often is, Chromium has no sandbox. It opens pages of this product only. A GPU that is emulated draws slower
  // than no GPU.
  const args = ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP ${REMOTE_HOST} 127.0.0.1`];
  return chromium.launch({ executablePath, args, headless: true });
}
