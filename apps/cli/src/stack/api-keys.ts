import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../cli-error.js';
import { readStackFile } from './stack-file.js';

const fileName = 'api-keys.json';
const ownerOnly = 0o600;

/** The API keys that commands made on this data directory, by fleet. They exist nowhere else in the clear. */
export async function savedApiKeys(dataDir: string): Promise<Record<string, string>> {
  let text: string;
  try {
    text = await readFile(join(dataDir, fileName), 'utf8');
  } catch {
    return {};
  }
  return JSON.parse(text) as Record<string, string>;
}

/** Replaces the file in one step: the supervisor may read it at any moment. */
export async function saveApiKey(dataDir: string, fleetId: string, key: string): Promise<void> {
  const keys = { ...(await savedApiKeys(dataDir)), [fleetId]: key };
  await mkdir(dataDir, { recursive: true });
  const temporary = join(dataDir, `${fileName}.${String(process.pid)}`);
  await writeFile(temporary, `${JSON.stringify(keys, null, 2)}\n`, { mode: ownerOnly });
  await rename(temporary, join(dataDir, fileName));
}

export async function apiKeyOf(dataDir: string, fleetId: string): Promise<string> {
  const key = (await savedApiKeys(dataDir))[fleetId] ?? (await readStackFile(dataDir))?.apiKeys[fleetId];
  if (key !== undefined) return key;
  throw new CliError(
    `No API key of fleet ${fleetId} is known in ${dataDir}: make the fleet with "fleet create ${fleetId}", or another ` +
      `key with "fleet key ${fleetId}".`,
  );
}
