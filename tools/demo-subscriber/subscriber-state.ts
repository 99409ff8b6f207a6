import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KnownSubscription } from './ensure-subscriptions.js';

/** What the demo subscriber keeps between its runs: its port and its secrets. */
export interface SubscriberState {
  readonly port: number;
  readonly subscriptions: readonly KnownSubscription[];
}

const fileName = 'demo-subscriber.json';
const ownerOnly = 0o600;

export async function loadState(dataDir: string): Promise<SubscriberState> {
  try {
    return JSON.parse(await readFile(join(dataDir, fileName), 'utf8')) as SubscriberState;
  } catch {
    return { port: 0, subscriptions: [] };
  }
}

export async function saveState(dataDir: string, state: SubscriberState): Promise<void> {
  const path = join(dataDir, fileName);
  await writeFile(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: ownerOnly });
  await rename(`${path}.new`, path);
}
