import { API_KEY_SCOPES, openManagementStore } from '@waypost/management-store';
import { CliError } from '../cli-error.js';
import { saveApiKey, savedApiKeys } from './api-keys.js';

export interface EnsureFleetOptions {
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly fleetId: string;
  readonly now: () => number;
}

/** The API key of a fleet, which is made, as is the key, when it is not there yet. For demonstrations. */
export async function ensureFleet({ dataDir, databaseUrl, fleetId, now }: EnsureFleetOptions): Promise<string> {
  const store = await openManagementStore(databaseUrl);
  try {
    const fleet = await store.createFleet({ fleetId, payloadFormat: 'v1', nowMs: now() });
    if (fleet.type === 'invalid') throw new CliError(`${fleetId} cannot be a fleet's id: ${fleet.message}.`);
    const saved = (await savedApiKeys(dataDir))[fleetId];
    // A key of a database that is gone counts for nothing in the new one.
    if (saved !== undefined && fleet.type === 'exists') return saved;
    const made = await store.createApiKey({ fleetId, scopes: API_KEY_SCOPES, nowMs: now() });
    if (made.type === 'fleet_not_found') throw new CliError(`Fleet ${fleetId} went away while its key was made.`);
    await saveApiKey(dataDir, fleetId, made.key);
    return made.key;
  } finally {
    await store.close();
  }
}
