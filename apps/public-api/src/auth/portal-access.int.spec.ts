import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type DocumentedOperation, filled, securedOperations } from '../testing/documented-operations.js';
import { type FleetOfThree, type KnownSubscription, startFleetOfThree } from '../testing/fleet-of-three.js';
import { openPortalSession } from '../testing/portal-sessions.js';
import type { TestAnswer } from '../testing/test-api.js';
import { bodyOf } from '../testing/two-fleets.js';
import { NOW } from '../testing/walked-deliveries.js';

const EVENTS = '/public/v2/events';
const SUBSCRIPTIONS = '/public/v1/webhook-subscriptions';
const WINDOW = `startDate=${new Date(NOW - 86_400_000).toISOString()}&endDate=${new Date(NOW).toISOString()}`;

let fleet: FleetOfThree;
beforeAll(async () => {
  fleet = await startFleetOfThree();
});
afterAll(async () => {
  await fleet.close();
  expect(fleet.api.errors).toEqual([]);
});

/** Which of the three subscriptions of `acme` a session has; null: the fleet. */
type Visibility = readonly number[] | null;

async function tokenFor(visibility: Visibility): Promise<string> {
  const subscriptionIds = visibility && visibility.map((index) => fleet.subscriptions[index]?.id ?? '');
  // By the store, which allows any scope: what the endpoints refuse is not left to the creation of a session.
  return (await openPortalSession(fleet.store, { fleetId: 'acme', nowMs: NOW, subscriptionIds })).token;
}

function isSeen(visibility: Visibility, subscription: KnownSubscription): boolean {
  if (visibility === null) return subscription.fleetId === 'acme';
  return visibility.some((index) => fleet.subscriptions[index] === subscription);
}

function unseenBy(visibility: Visibility): readonly KnownSubscription[] {
  return fleet.subscriptions.filter((subscription) => !isSeen(visibility, subscription));
}

/** Each path and query that could name this subscription, in one way or another. */
function callsAbout(operation: DocumentedOperation, about: KnownSubscription, sharing: KnownSubscription): string[] {
  const ids = operation.placeholders.map((placeholder) => {
    if (placeholder === '{eventId}') return about.eventId;
    return placeholder === '{replayId}' ? about.replayId : about.id;
  });
  const shared = operation.placeholders.map((placeholder) =>
    placeholder === '{replayId}' ? about.replayId : sharing.id,
  );
  const paths = [filled(operation, ids), filled(operation, ids).toUpperCase().replaceAll('/PUBLIC', '/public')];
  // Something of the one below the address of another.
  if (operation.placeholders.includes('{replayId}')) paths.push(filled(operation, shared));
  const { id: subscriptionId, eventId, deviceId } = about;
  const values = { subscriptionId, eventId, deviceId, payload: `eventId:${eventId}` };
  const named = Object.entries(values).filter(([name]) => operation.queryNames.includes(name));
  const groups = operation.queryNames.includes('groupBy') ? ['groupBy=subscription', 'groupBy=eventType'] : [];
  const queries = ['', ...named.map(([name, value]) => `${name}=${value}`), ...groups];
  if (operation.queryNames.includes('scope')) queries.push('scope=url');
  const required = operation.queryNames.includes('startDate') ? [WINDOW] : [];
  return paths.flatMap((path) =>
    queries.map((query) => {
      const search = [...required, query].filter((part) => part !== '').join('&');
      return search === '' ? path : `${path}?${search}`;
    }),
  );
}

function call({ method, path }: DocumentedOperation, url: string, token: string): Promise<TestAnswer> {
  const json = bodyOf({ method, path });
  return fleet.api.request(url, { method, key: token, ...(json === undefined ? {} : { json }) });
}

/** Every row that a session has no business with, as text. */
async function rowsBehind(visibility: Visibility): Promise<unknown> {
  const unseen = unseenBy(visibility).map(({ id }) => id);
  const bySubscription = { webhook_subscriptions: 'id', webhook_replays: 'subscription_id' };
  const ofFleet = ['fleets', 'geofences', 'api_keys', 'fleet_portals', 'portal_sessions'];
  const rows: Record<string, string[]> = {};
  const read = async (table: string, where: string, values: unknown[] = []): Promise<void> => {
    const text = `SELECT t::text AS row FROM ${table} t WHERE ${where} ORDER BY 1`;
    rows[table] = (await fleet.sql.query<{ row: string }>(text, values)).rows.map(({ row }) => row);
  };
  for (const [table, column] of Object.entries(bySubscription)) await read(table, `${column} = ANY ($1)`, [unseen]);
  await read('outbox', 'key = ANY ($1) OR partition_key = ANY ($1)', [unseen]);
  // A session with subscriptions changes nothing else; one without them changes what is its fleet's.
  for (const table of ofFleet) await read(table, visibility === null ? "fleet_id <> 'acme'" : 'true');
  return rows;
}

interface Item {
  readonly subscriptionId?: string;
  readonly subscription_id?: string;
}

function idOf(item: Item): string {
  return item.subscriptionId ?? item.subscription_id ?? '';
}

async function read(path: string, key: string): Promise<{ items: Item[]; next: string | null }> {
  const { status, body } = await fleet.api.request(path, { key });
  expect([path, status]).toEqual([path, 200]);
  const page = body as { data?: Item[]; events?: Item[]; nextPageState?: string; next_page_state?: string };
  return { items: page.data ?? page.events ?? [], next: page.nextPageState ?? page.next_page_state ?? null };
}

async function walk(path: string, key: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let state = ''; ;) {
    const page = await read(path + state, key);
    items.push(...page.items);
    if (page.next === null) return items;
    state = `&pageState=${page.next}`;
  }
}

describe('a portal session with some subscriptions sees all of theirs (R-42)', () => {
  const sights = fc.subarray([0, 1, 2], { minLength: 1 });
  const queries = fc.constantFrom(
    '',
    '&order=desc',
    '&eventType=position',
    '&eventType=position&eventType=ignition_on',
  );
  const others = fc.constantFrom('', '&statusCode=200', '&status=delivered', '&deviceId=');

  it('in each history, whatever it filters by, and however long the pages are', async () => {
    const paths = fc.constantFrom(EVENTS, '/public/v1/webhook-events');
    const limits = fc.constantFrom(1, 3, 100);
    await fc.assert(
      fc.asyncProperty(sights, paths, queries, others, limits, async (visibility, path, query, other, limit) => {
        const isV1 = path !== EVENTS;
        const filters = other === '&deviceId=' ? `&deviceId=${fleet.subscriptions[1]?.deviceId ?? ''}` : other;
        const asked = isV1 ? (query.includes('order') || query.split('=').length > 2 ? '' : query) : query + filters;
        const url = `${path}?${WINDOW}&limit=${String(limit)}${asked}`;
        const all = await walk(url.replace(/limit=\d+/, 'limit=100'), fleet.key);
        const seen = visibility.map((index) => fleet.subscriptions[index]?.id);
        expect(await walk(url, await tokenFor(visibility))).toEqual(all.filter((item) => seen.includes(idOf(item))));
      }),
      { numRuns: 40 },
    );
  });

  it('in the figures and in the stream', async () => {
    for (const visibility of [[0], [1, 2], [0, 1, 2]]) {
      const token = await tokenFor(visibility);
      const seen = visibility.map((index) => fleet.subscriptions[index]?.id);
      const figures = `/public/v2/metrics?${WINDOW}&step=day&groupBy=subscription`;
      const all = await read(figures, fleet.key);
      expect((await read(figures, token)).items).toEqual(all.items.filter((item) => seen.includes(idOf(item))));
      const stream = await fleet.api.request('/public/v2/stream', { key: token });
      const streamed = String(stream.body).match(/"subscriptionId":"[^"]+"/g) ?? [];
      expect(streamed).toHaveLength(visibility.length * 4);
      expect(new Set(streamed)).toEqual(new Set(seen.map((id) => `"subscriptionId":"${id ?? ''}"`)));
    }
  });

  it('in the list of subscriptions, and uses them as its scopes say', async () => {
    const [first, , third] = fleet.subscriptions;
    const token = await tokenFor([0, 2]);
    const list = await walk(`${SUBSCRIPTIONS}?limit=1`, token);
    // Of one moment: in the order of their ids.
    expect(list.map((item) => (item as { id?: string }).id)).toEqual([first?.id, third?.id].sort());
    const own = `${SUBSCRIPTIONS}/${first?.id ?? ''}`;
    for (const [method, path, json] of [
      ['GET', own, undefined],
      ['GET', `${own}/operations`, undefined],
      ['GET', `${own}/replays/${first?.replayId ?? ''}`, undefined],
      ['POST', `${own}/test`, undefined],
      ['POST', `${own}/rotate-secret`, undefined],
      ['POST', `${EVENTS}/${first?.eventId ?? ''}/resend`, undefined],
      ['PATCH', own, { rateLimitPerSecond: 5 }],
    ] as const) {
      const { status } = await fleet.api.request(path, { method, key: token, json });
      expect([method, path, status < 300]).toEqual([method, path, true]);
    }
  });
});

describe('a portal session with some subscriptions cannot see further vehicles by them (R-42)', () => {
  const pathOf = (index: number): string => `${SUBSCRIPTIONS}/${fleet.subscriptions[index]?.id ?? ''}`;
  const change = (path: string, key: string, deviceIds: readonly string[] | null): Promise<TestAnswer> =>
    fleet.api.request(path, { method: 'PATCH', key, json: { deviceIds } });
  const devicesOf = async (index: number): Promise<unknown> =>
    ((await fleet.api.request(pathOf(index), { key: fleet.key })).body as { deviceIds?: unknown }).deviceIds ?? null;

  it.each<[readonly string[] | null, readonly string[] | null, number]>([
    [['van-1', 'van-2'], null, 403],
    [['van-1', 'van-2'], ['van-1', 'van-3'], 403],
    [['van-1', 'van-2'], ['van-2', 'van-1'], 200],
    [['van-1', 'van-2'], ['van-2'], 200],
    [null, ['van-1'], 200],
    [null, null, 200],
  ])('when it changes the device ids from %j to %j: %i', async (before, after, status) => {
    await change(pathOf(0), fleet.key, before);
    expect((await change(pathOf(0), await tokenFor([0]), after)).status).toBe(status);
    expect(await devicesOf(0)).toEqual(status === 200 ? after : before);
    expect((await change(pathOf(0), fleet.key, null)).status).toBe(200);
  });

  it('nor when only another one of the same URL would gain some', async () => {
    await change(pathOf(0), fleet.key, ['van-1', 'van-2']);
    await change(pathOf(2), fleet.key, ['van-1']);
    const token = await tokenFor([0, 2]);
    expect((await change(`${pathOf(0)}?scope=url`, token, ['van-2'])).status).toBe(403);
    expect([await devicesOf(0), await devicesOf(2)]).toEqual([['van-1', 'van-2'], ['van-1']]);
    expect((await change(`${pathOf(0)}?scope=url`, token, ['van-1'])).status).toBe(200);
    await change(`${pathOf(0)}?scope=url`, fleet.key, null);
  });
});

describe('a page token of a portal session (R-34, R-42)', () => {
  it.each([`${EVENTS}?limit=1`, `/public/v1/webhook-events?${WINDOW}&limit=1`, `${SUBSCRIPTIONS}?limit=1`])(
    'is of no use to a session with other subscriptions, nor is one of the fleet: %s',
    async (path) => {
      const [token, other] = [await tokenFor([0, 2]), await tokenFor([1, 2])];
      const { next } = await read(path, token);
      const ofFleet = await read(path, fleet.key);
      const refused = { error: { code: 'page_state_other_query' } };
      for (const [state, key] of [
        [next, other],
        [next, fleet.key],
        [ofFleet.next, token],
      ] as const) {
        const answer = await fleet.api.request(`${path}&pageState=${state ?? ''}`, { key });
        expect([answer.status, answer.body]).toMatchObject([400, refused]);
      }
      // Another session with the same ones walks on.
      await read(`${path}&pageState=${next ?? ''}`, await tokenFor([2, 0]));
    },
  );
});

const operations = securedOperations.map((one) => [`${one.method} ${one.path}`, one] as const);

// The session with the whole fleet comes last: it may delete what the others look at.
describe.each<[string, Visibility]>([
  ['one subscription', [1]],
  ['two subscriptions', [0, 2]],
  ['the whole fleet', null],
])('a portal session with %s (R-42)', (_name, visibility) => {
  it.each(operations)('neither reads nor changes anything else by %s', async (_operation, operation) => {
    const token = await tokenFor(visibility);
    const before = await rowsBehind(visibility);
    const [own] = fleet.subscriptions.filter((one) => isSeen(visibility, one));
    if (own === undefined) throw new Error('it sees nothing');
    for (const about of unseenBy(visibility)) {
      for (const url of callsAbout(operation, about, own)) {
        const answer = await call(operation, url, token);
        expect(answer.status).toBeLessThan(500);
        const names = operation.placeholders.length > 0;
        if (names) expect([url, [400, 403, 404].includes(answer.status)]).toEqual([url, true]);
        const text = JSON.stringify(answer.body);
        for (const one of unseenBy(visibility))
          expect([url, one.marks.filter((mark) => text.includes(mark))]).toEqual([url, []]);
      }
    }
    // On what is its own, with all that may reach further.
    for (const url of callsAbout(operation, own, own)) {
      const text = JSON.stringify((await call(operation, url, token)).body);
      for (const one of unseenBy(visibility))
        expect([url, one.marks.filter((mark) => text.includes(mark))]).toEqual([url, []]);
    }
    expect(await rowsBehind(visibility)).toEqual(before);
  });
});
