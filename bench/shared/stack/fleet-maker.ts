import { API_KEY_SCOPES, openManagementStore } from '@waypost/management-store';
import { createApiClient } from '../../../apps/cli/src/stack/api-client.js';
import type { BenchStack } from './bench-stack.js';

export const SUBSCRIPTIONS_PATH = '/public/v1/webhook-subscriptions';

interface MadeSubscription {
  readonly id: string;
  readonly eventType: string;
  readonly url: string;
}

/** Makes fleets with a key each, and subscriptions through the public API. */
export async function openFleetMaker({ databaseUrl }: Pick<BenchStack, 'databaseUrl'>, apiUrl: string) {
  const store = await openManagementStore(databaseUrl);
  return {
    async make(fleetId: string) {
      await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: Date.now() });
      const made = await store.apiKeys.create({ fleetId, scopes: API_KEY_SCOPES, nowMs: Date.now() });
      if (made.type !== 'created') throw new Error(`Fleet ${fleetId} could not be made.`);
      const client = createApiClient({ apiUrl, apiKey: made.key });
      const subscribe = async (subscription: object): Promise<readonly MadeSubscription[]> =>
        ((await client.post(SUBSCRIPTIONS_PATH, subscription)) as { readonly data: readonly MadeSubscription[] }).data;
      return { apiKey: made.key, subscribe };
    },
    close: () => store.close(),
  };
}
