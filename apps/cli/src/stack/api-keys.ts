import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { API_KEY_SCOPES, openManagementStore } from '@waypost/management-store';
import { CliError } from '../terminal/output.js';
import { readStackFile } from './stack-config.js';

const fileName = 'api-keys.json';
const OWNER_ONLY = 0o600;
/** A `stack.json` that a killed stack has left behind never changes. */
const SHOWN_WITHIN_MS = 2_000;
const SHOWN_POLL_MS = 20;

/** The API keys that commands created in this data directory, by fleet: the only plain-text copy. */
export async function savedApiKeys(dataDir: string): Promise<Record<string, string>> {
  let text: string;
  try {
    text = await readFile(join(dataDir, fileName), 'utf8');
  } catch {
    return {};
  }
  return JSON.parse(text) as Record<string, string>;
}

/**
 * Replaces the file in one step: the supervisor may read it at any moment. It then adds the key to `stack.json`, which
 * is waited for: scripts read the key there as soon as the command has ended.
 */
export async function saveApiKey(dataDir: string, fleetId: string, key: string): Promise<void> {
  const keys = { ...(await savedApiKeys(dataDir)), [fleetId]: key };
  await mkdir(dataDir, { recursive: true });
  const temporary = join(dataDir, `${fileName}.${String(process.pid)}`);
  await writeFile(temporary, `${JSON.stringify(keys, null, 2)}\n`, { mode: OWNER_ONLY });
  await rename(temporary, join(dataDir, fileName));
  for (let waitedMs = 0; waitedMs < SHOWN_WITHIN_MS; waitedMs += SHOWN_POLL_MS) {
    const stack = await readStackFile(dataDir);
    if (stack === null || stack.apiKeys[fleetId] === key) return;
    await sleep(SHOWN_POLL_MS);
  }
}

export async function apiKeyOf(dataDir: string, fleetId: string): Promise<string> {
  const key = (await savedApiKeys(dataDir))[fleetId] ?? (await readStackFile(dataDir))?.apiKeys[fleetId];
  if (key !== undefined) return key;
  throw new CliError(
    `No API key of fleet ${fleetId} is saved in ${dataDir}: create the fleet with "fleet create ${fleetId}", or another ` +
      `key with "fleet key ${fleetId}".`,
  );
}

export interface EnsureFleetOptions {
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly fleetId: string;
  readonly now: () => number;
}

/** The API key of a fleet; creates the fleet and the key if necessary. For demonstrations. */
export async function ensureFleet({ dataDir, databaseUrl, fleetId, now }: EnsureFleetOptions): Promise<string> {
  const store = await openManagementStore(databaseUrl);
  try {
    const fleet = await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: now() });
    if (fleet.type === 'invalid') throw new CliError(`${fleetId} is not a valid fleet id: ${fleet.message}.`);
    const saved = (await savedApiKeys(dataDir))[fleetId];
    // A key of a database that is gone counts for nothing in the new one.
    if (saved !== undefined && fleet.type === 'exists') return saved;
    const made = await store.apiKeys.create({ fleetId, scopes: API_KEY_SCOPES, nowMs: now() });
    if (made.type !== 'created') throw new CliError(`Fleet ${fleetId} was deleted while its key was being created.`);
    await saveApiKey(dataDir, fleetId, made.key);
    return made.key;
  } finally {
    await store.close();
  }
}
