import type { RunningWaypost } from './running-waypost.js';

export interface V1Event {
  readonly event_id: string;
  readonly event_type: string;
  readonly event_time: string;
  readonly device_id: string;
  readonly subscription_id: string;
  readonly url: string;
  readonly status_code?: number;
  readonly body: string;
  readonly retry_count: number;
  readonly attempts: readonly { readonly attempt: number; readonly started_at: string }[];
}

export interface V2Event {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventTime: string;
  readonly deviceId: string;
  readonly subscriptionId: string;
  readonly payload: unknown;
  readonly delivery: {
    readonly status: string;
    readonly statusCode?: number;
    readonly attemptCount: number;
    readonly attempts: readonly { readonly attempt: number; readonly startedAt: string }[];
  };
}

export interface Walk<T> {
  readonly items: readonly T[];
  /** Of every page. */
  readonly headers: readonly Headers[];
}

interface WalkOptions {
  readonly fleet: string;
  /** Epoch ms. */
  readonly from: number;
  readonly pageSize: number;
}

const v1Path = '/public/v1/webhook-events';
const v2Path = '/public/v2/events';
const REQUEST_TIMEOUT_MS = 30_000;

export async function walkV1(waypost: RunningWaypost, options: WalkOptions): Promise<Walk<V1Event>> {
  return walk(waypost, v1Path, options, (page) => {
    const { events, next_page_state } = page as { events: V1Event[]; next_page_state: string | null };
    return { items: events, next: next_page_state };
  });
}

export async function walkV2(waypost: RunningWaypost, options: WalkOptions): Promise<Walk<V2Event>> {
  return walk(waypost, v2Path, options, (page) => {
    const { data, nextPageState } = page as { data: V2Event[]; nextPageState: string | null };
    return { items: data, next: nextPageState };
  });
}

async function walk<T>(
  waypost: RunningWaypost,
  path: string,
  { fleet, from, pageSize }: WalkOptions,
  read: (page: unknown) => { items: T[]; next: string | null },
): Promise<Walk<T>> {
  const { apiUrl, apiKeys } = waypost.info();
  const url = new URL(path, apiUrl);
  url.searchParams.set('startDate', new Date(from).toISOString());
  url.searchParams.set('endDate', new Date(Date.now() + 60_000).toISOString());
  url.searchParams.set('limit', String(pageSize));
  const items: T[] = [];
  const headers: Headers[] = [];
  for (let next: string | null = ''; next !== null;) {
    if (next !== '') url.searchParams.set('pageState', next);
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${apiKeys[fleet] ?? ''}` },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`${url.href} answers ${String(response.status)}: ${await response.text()}`);
    const page = read(await response.json());
    items.push(...page.items);
    headers.push(response.headers);
    next = page.next;
  }
  return { items, headers };
}
