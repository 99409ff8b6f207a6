import { API_KEY_SCOPES, openManagementStore } from '@waypost/management-store';
import { readJsonFile, writeJsonFile, type StackReporter } from '../../../tools/dev-stack/index.js';
import { createApiClient } from '../../../apps/cli/src/stack/api-client.js';
import type { DeliveryStack } from '../../delivery/stack/delivery-stack.js';
import type { SampledFleet } from '../load/sample-deliveries.js';
import { writeDeliveries } from '../load/write-deliveries.js';

/** Who calls: fleets with a key each, and with deliveries that they can ask for. */
export interface Callers {
  readonly fleets: readonly (SampledFleet & { readonly key: string })[];
  /** Epoch milliseconds: of the first attempts. */
  readonly fromMs: number;
  readonly toMs: number;
}

export const FLEETS = 4;
const EVENT_TYPES = ['position', 'position_sleep', 'ignition_on'];
const DEVICES = 100;
const DAYS = 3;
const DAY_MS = 86_400_000;
const FILE = 'callers.json';

interface SetUpOptions {
  readonly stack: DeliveryStack;
  readonly apiUrl: string;
  readonly deliveries: number;
  readonly reporter: StackReporter;
  readonly now: () => number;
}

/** The callers of this stack; made through the public API, and their deliveries written, unless a former run has. */
export async function callersOf({ stack, apiUrl, deliveries, reporter, now }: SetUpOptions): Promise<Callers> {
  const saved = (await readJsonFile(stack.file(FILE))) as Callers | null;
  if (saved !== null) return saved;
  const fleets = await reporter.during('Creating fleets and subscriptions', () => makeFleets(stack, apiUrl, now()));
  const toMs = now() - 60_000;
  const fromMs = toMs - DAYS * DAY_MS;
  const count = Math.ceil(deliveries / FLEETS);
  await reporter.during(`Writing ${String(count * FLEETS)} deliveries`, () =>
    writeDeliveries({ databaseUrl: stack.databaseUrl, fleets, count, fromMs, toMs }),
  );
  const callers = { fleets, fromMs, toMs };
  await writeJsonFile(stack.file(FILE), callers);
  return callers;
}

async function makeFleets(stack: DeliveryStack, apiUrl: string, nowMs: number): Promise<Callers['fleets']> {
  const store = await openManagementStore(stack.databaseUrl);
  const fleets: (SampledFleet & { key: string })[] = [];
  try {
    for (let number = 0; number < FLEETS; number += 1) {
      const fleetId = `caller-${String(number)}`;
      await store.createFleet({ fleetId, payloadFormat: 'v1', nowMs });
      const made = await store.createApiKey({ fleetId, scopes: API_KEY_SCOPES, nowMs });
      if (made.type !== 'created') throw new Error(`Fleet ${fleetId} could not be made.`);
      const client = createApiClient({ apiUrl, apiKey: made.key });
      const { data } = (await client.post('/public/v1/webhook-subscriptions', {
        url: 'http://127.0.0.1:9/hook',
        eventTypes: EVENT_TYPES,
      })) as { data: SampledFleet['subscriptions'] };
      fleets.push({ fleetId, key: made.key, subscriptions: data, devices: DEVICES });
    }
  } finally {
    await store.close();
  }
  return fleets;
}
