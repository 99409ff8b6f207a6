import { type ApiClient, createApiClient } from '../stack/api-client.js';
import { apiKeyOf } from '../stack/api-keys.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { type Terminal, writeLine } from '../terminal/output.js';

export interface SubscribeOptions {
  readonly dataDir: string;
  readonly fleet: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  /** Empty: every device of the fleet. */
  readonly deviceIds: readonly string[];
}

export interface CreatedSubscription {
  readonly id: string;
  readonly eventType: string;
  readonly url: string;
  readonly secret: string;
}

/** One subscription per event type; each is printed as a JSON line with its signing secret, shown only now. */
export async function subscribe(terminal: Terminal, options: SubscribeOptions): Promise<void> {
  const stack = await stackEnvironment(options.dataDir);
  const apiKey = await apiKeyOf(options.dataDir, options.fleet);
  const api = createApiClient({ apiUrl: stack.require('WAYPOST_API_URL'), apiKey });
  for (const created of await createSubscriptions(api, options)) await writeLine(terminal.out, JSON.stringify(created));
}

export async function createSubscriptions(
  api: ApiClient,
  { url, eventTypes, deviceIds }: Pick<SubscribeOptions, 'url' | 'eventTypes' | 'deviceIds'>,
): Promise<CreatedSubscription[]> {
  const answer = await api.post('/public/v1/webhook-subscriptions', {
    url,
    eventTypes,
    ...(deviceIds.length === 0 ? {} : { deviceIds }),
  });
  const { data } = answer as { readonly data: readonly CreatedSubscription[] };
  return data.map(({ id, eventType, url: sentTo, secret }) => ({ id, eventType, url: sentTo, secret }));
}
