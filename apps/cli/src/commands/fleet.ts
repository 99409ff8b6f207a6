import { API_KEY_SCOPES, openManagementStore } from '@waypost/management-store';
import { saveApiKey } from '../stack/api-keys.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { messageOf } from '../terminal/message-of.js';
import { CliError, type Terminal, writeLine } from '../terminal/output.js';

export type PayloadFormat = 'v1' | 'legacy-v1';

export interface FleetCreateOptions {
  readonly dataDir: string;
  readonly fleetId: string;
  readonly format: PayloadFormat;
  /** Whether route and stop events are enabled from the start. */
  readonly routes: boolean;
  readonly now: () => number;
}

type KeyOptions = Pick<FleetCreateOptions, 'dataDir' | 'fleetId' | 'now'>;
type ManagementStore = Awaited<ReturnType<typeof openManagementStore>>;

/** Creates a fleet and its first API key. The key is the last word printed, for scripts. */
export async function createFleet(terminal: Terminal, options: FleetCreateOptions): Promise<void> {
  const { dataDir, fleetId, format, routes, now } = options;
  const key = await withStore(dataDir, async (store) => {
    const result = await store.fleets.create({ fleetId, payloadFormat: format, routes, nowMs: now() });
    switch (result.type) {
      case 'created':
        return addApiKey(terminal, store, options);
      case 'exists':
        throw new CliError(`Fleet ${fleetId} already exists: "fleet key ${fleetId}" creates another API key for it.`);
      case 'invalid':
        throw new CliError(`${fleetId} is not a valid fleet id: ${result.message}.`);
    }
  });
  await writeLine(terminal.out, `fleet ${fleetId} created (format ${format}), API key ${key}`);
}

/** Creates another API key for a fleet; earlier ones stay valid. */
export async function createFleetKey(terminal: Terminal, options: KeyOptions): Promise<void> {
  const { dataDir, fleetId } = options;
  const key = await withStore(dataDir, (store) => addApiKey(terminal, store, options));
  await writeLine(terminal.out, `fleet ${fleetId}, API key ${key}`);
}

/** The key is valid from here on and shown only once: it is printed even where it cannot be saved. */
async function addApiKey(
  { err }: Pick<Terminal, 'err'>,
  store: ManagementStore,
  { dataDir, fleetId, now }: KeyOptions,
): Promise<string> {
  const result = await store.apiKeys.create({ fleetId, scopes: API_KEY_SCOPES, nowMs: now() });
  if (result.type !== 'created') throw new CliError(`There is no fleet ${fleetId}.`);
  try {
    await saveApiKey(dataDir, fleetId, result.key);
  } catch (error) {
    const reason = messageOf(error);
    await writeLine(
      err,
      `The API key could not be saved in ${dataDir} (${reason}): save it yourself, it is not shown again.`,
    );
  }
  return result.key;
}

async function withStore<T>(dataDir: string, work: (store: ManagementStore) => Promise<T>): Promise<T> {
  const stack = await stackEnvironment(dataDir);
  const store = await openManagementStore(stack.require('DATABASE_URL'));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
