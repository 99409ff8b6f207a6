import type { ApiClient } from '../../apps/cli/src/stack/api-client.js';
import { hookPath } from './subscriber-server.js';

export interface KnownSubscription {
  readonly id: string;
  readonly eventType: string;
  readonly secret: string;
}

interface ListedSubscription {
  readonly id: string;
  readonly eventType: string;
  readonly url: string;
}

interface EnsureOptions {
  readonly api: ApiClient;
  readonly eventTypes: readonly string[];
  readonly host: string;
  readonly port: number;
  /** The subscriptions that an earlier run saved. */
  readonly known: readonly KnownSubscription[];
}

const path = '/public/v1/webhook-subscriptions';

/**
 * Ensures one subscription per event type at our URL, whatever an earlier run left: kept if its secret is known, moved
 * if our port has changed, given a new secret if that was lost, and created if there is none.
 */
export async function ensureSubscriptions({
  api,
  eventTypes,
  host,
  port,
  known,
}: EnsureOptions): Promise<KnownSubscription[]> {
  const { data: listed } = (await api.get(path, new URLSearchParams({ limit: '1000' }))) as {
    readonly data: readonly ListedSubscription[];
  };

  async function ensure(eventType: string): Promise<KnownSubscription> {
    const url = `http://${host}:${String(port)}${hookPath}${eventType}`;
    const kept = known.find((one) => one.eventType === eventType);
    const ours = listed.find((one) => one.id === kept?.id);
    if (kept !== undefined && ours !== undefined) {
      if (ours.url !== url) await api.patch(`${path}/${ours.id}`, { url });
      return kept;
    }
    const stranded = listed.find((one) => one.eventType === eventType && one.url === url);
    if (stranded !== undefined) return rotated(api, stranded);
    const { data } = (await api.post(path, { url, eventTypes: [eventType] })) as { readonly data: KnownSubscription[] };
    const [created] = data;
    if (created === undefined) throw new Error(`The API created no subscription for ${eventType}`);
    return { id: created.id, eventType, secret: created.secret };
  }

  const ensured: KnownSubscription[] = [];
  for (const eventType of eventTypes) ensured.push(await ensure(eventType));
  return ensured;
}

async function rotated(api: ApiClient, { id, eventType }: ListedSubscription): Promise<KnownSubscription> {
  const { secret } = (await api.post(`${path}/${id}/rotate-secret`)) as { readonly secret: string };
  return { id, eventType, secret };
}
