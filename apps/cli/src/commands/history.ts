import { RETENTION_MS } from '@waypost/domain';
import { type ApiClient, createApiClient } from '../stack/api-client.js';
import { apiKeyOf } from '../stack/api-keys.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { type Terminal, writeLine } from '../terminal/output.js';

export interface HistoryOptions {
  readonly dataDir: string;
  readonly fleet: string;
  readonly from: number | null;
  readonly to: number | null;
  readonly types: readonly string[];
  readonly device: string | null;
  readonly subscription: string | null;
  readonly status: string | null;
  readonly statusCode: string | null;
  readonly now: () => number;
}

const PAGE_SIZE = 500;

/** Walks the pages of `/public/v2/events` and prints each event as a JSON line. */
export async function history(terminal: Terminal, options: HistoryOptions): Promise<void> {
  const stack = await stackEnvironment(options.dataDir);
  const apiKey = await apiKeyOf(options.dataDir, options.fleet);
  const api = createApiClient({ apiUrl: stack.require('WAYPOST_API_URL'), apiKey });
  for await (const event of historyEvents(api, historyQuery(options))) {
    await writeLine(terminal.out, JSON.stringify(event));
  }
}

export async function* historyEvents(api: ApiClient, query: URLSearchParams): AsyncGenerator {
  const page = new URLSearchParams(query);
  for (;;) {
    const { data, nextPageState } = (await api.get('/public/v2/events', page)) as {
      readonly data: readonly unknown[];
      readonly nextPageState: string | null;
    };
    yield* data;
    if (nextPageState === null) return;
    page.set('pageState', nextPageState);
  }
}

export function historyQuery(options: Omit<HistoryOptions, 'dataDir' | 'fleet'>): URLSearchParams {
  const endAt = options.to ?? options.now() + 1;
  const query = new URLSearchParams({
    startDate: new Date(options.from ?? endAt - RETENTION_MS).toISOString(),
    endDate: new Date(endAt).toISOString(),
    limit: String(PAGE_SIZE),
  });
  for (const type of options.types) query.append('eventType', type);
  const single = {
    deviceId: options.device,
    subscriptionId: options.subscription,
    status: options.status,
    statusCode: options.statusCode,
  };
  for (const [name, value] of Object.entries(single)) if (value !== null) query.set(name, value);
  return query;
}
