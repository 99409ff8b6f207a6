import { randomUUID } from 'node:crypto';
import { createPageSource } from '@waypost/database';
import type { DeliveryHistory, FoundDeliveries, PathPoint } from '@waypost/domain';
import { createDeliveryHistory, createPathHistory } from '@waypost/history-store';
import { createMemoryPathStore } from '@waypost/history-store/testing';
import { API_KEY_SCOPES, type ManagementStore, openManagementStore } from '@waypost/management-store';
import { createTestDatabase } from '../../../../test/support/test-database.js';
import { deliveryRecord, historyOf } from './delivery-records.js';
import { collectionsIn, type DocumentedOperation, filled, securedOperations } from './documented-operations.js';
import { startTestApi, type TestAnswer, type TestApi, type TestRequest } from './test-api.js';

const HOUR_MS = 3_600_000;
/** Made by the product, not over HTTP. */
const EVENTS = '/public/v2/events';
const WINDOW = { startDate: '2026-03-15T00:00:00Z', endDate: '2026-03-20T12:00:00Z' };
export const START_MS = Date.UTC(2026, 2, 20, 12);

/**
 * A body that each operation accepts, so that nothing but the owner decides about the answer. An operation without a
 * body here is sent none.
 */
const BODIES: Readonly<Record<string, () => object>> = {
  'POST /public/v1/webhook-subscriptions': () => ({
    url: `https://receiver.example/${randomUUID()}`,
    eventTypes: ['position', 'ignition_on'],
  }),
  'PATCH /public/v1/webhook-subscriptions/{id}': () => ({ url: 'https://elsewhere.example/hook' }),
  'POST /public/v1/webhook-subscriptions/{id}/replays': () => WINDOW,
  'POST /public/v1/geofences': () => ({
    name: randomUUID(),
    shape: { type: 'circle', center: { latitude: 52, longitude: 13 }, radiusInMeters: 100 },
  }),
  'PATCH /public/v1/geofences/{id}': () => ({ name: randomUUID() }),
  'PATCH /public/v1/fleet': () => ({ payloadFormat: 'v1' }),
  'POST /public/v1/api-keys': () => ({ scopes: ['events:read'] }),
  'PATCH /public/v1/fleet/portal': () => ({ brandColor: '#0f766e' }),
  'POST /public/v1/portal-sessions': () => ({ scopes: ['events:read'] }),
};

export function bodyOf({ method, path }: Pick<DocumentedOperation, 'method' | 'path'>): object | undefined {
  return BODIES[`${method} ${path}`]?.();
}

export interface Fleet {
  readonly id: string;
  readonly key: string;
  /** The newest thing of each collection, by the collection's path. */
  readonly made: ReadonlyMap<string, string>;
}

export interface TwoFleets {
  readonly api: TestApi;
  readonly owner: Fleet;
  readonly stranger: Fleet;
  readonly store: ManagementStore;
  advance(ms: number): void;
  /** As a fleet, with a body that is acceptable and the query that is required. */
  call(
    operation: DocumentedOperation,
    ids: readonly string[],
    request?: TestRequest,
    query?: Record<string, string>,
  ): Promise<TestAnswer>;
  close(): Promise<void>;
}

/** The API on a database with two fleets; the owner has two of everything that the API knows. */
export async function startTwoFleets(serverUrl: string): Promise<TwoFleets> {
  const database = await createTestDatabase(serverUrl);
  const store = await openManagementStore(database.apiUrl);
  let nowMs = START_MS;
  const pages = createPageSource(database.apiUrl);
  const tables = { deliveries: createDeliveryHistory({ pages }), paths: createPathHistory({ pages }) };
  let history: DeliveryHistory = historyOf([]);
  const paths = createMemoryPathStore({ now: () => START_MS });
  const api = await startTestApi({
    store,
    findApiKey: (hash) => store.apiKeys.find(hash),
    now: () => nowMs,
    // The tables are asked too, for the sake of the queries: they are empty.
    history: {
      findWaiting: (query) => tables.deliveries.findWaiting(query),
      findEvent: async (query) => both(await tables.deliveries.findEvent(query), await history.findEvent(query)),
      findDeliveries: async (query) =>
        both(await tables.deliveries.findDeliveries(query), await history.findDeliveries(query)),
    },
    paths: {
      findPoints: async (query) => [
        ...(await tables.paths.findPoints(query)),
        ...(await paths.history.findPoints(query)),
      ],
    },
  });

  const call: TwoFleets['call'] = (operation, ids, request = {}, query = {}) => {
    const body = bodyOf(operation);
    const required = operation.queryNames.includes('startDate') ? WINDOW : {};
    const search = new URLSearchParams({ ...required, ...query }).toString();
    const url = filled(operation, ids) + (search === '' ? '' : `?${search}`);
    return api.request(url, { method: operation.method, ...(body === undefined ? {} : { json: body }), ...request });
  };

  async function createFleet(name: string): Promise<Fleet> {
    const id = `${name}-${randomUUID()}`;
    await store.fleets.create({ fleetId: id, payloadFormat: 'v1', nowMs });
    const made = new Map<string, string>();
    const key = await createKey(id);
    const fleet = { id, key, made };
    for (const collection of collectionsIn(securedOperations).filter((path) => path !== EVENTS)) {
      for (let count = 0; count < 2; count++) made.set(collection, await create(fleet, collection));
    }
    made.set(EVENTS, randomUUID());
    return fleet;
  }

  /** In the database: portal sessions refer to it. */
  async function createKey(fleetId: string): Promise<string> {
    const created = await store.apiKeys.create({ fleetId, scopes: API_KEY_SCOPES, nowMs });
    if (created.type !== 'created') throw new Error('no key');
    return created.key;
  }

  async function create(fleet: Fleet, collection: string): Promise<string> {
    const operation = securedOperations.find(({ method, path }) => method === 'POST' && path === collection);
    if (operation === undefined) throw new Error(`Nothing makes ${collection}/{id}: teach two-fleets.ts how to`);
    const answer = await call(operation, idsFor(operation, fleet), { key: fleet.key });
    if (answer.status >= 300)
      throw new Error(`POST ${collection}: ${JSON.stringify(answer.body)}: give it a body in two-fleets.ts`);
    return idIn(answer.body, collection);
  }

  const owner = await createFleet('owner');
  const stranger = await createFleet('stranger');
  const subscriptionId = owner.made.get('/public/v1/webhook-subscriptions') ?? '';
  history = historyOf(
    [1, 2, 3].map((hours) =>
      deliveryRecord({
        fleetId: owner.id,
        subscriptionId,
        deviceId: `device-of-${owner.id}`,
        // The event of the fleet, with a replay of it, and another.
        ...(hours < 3 && { eventId: owner.made.get(EVENTS) ?? '', series: 2 - hours }),
        firstAttemptAt: START_MS - hours * HOUR_MS,
      }),
    ),
  );
  await keepOperations(store, owner.id, subscriptionId);
  const points = [1, 2, 3].map((minutes) => pointOf(owner.id, START_MS - minutes * 60_000));
  await paths.projection.apply({ topic: 'pings', partition: 0, expectedOffset: null, nextOffset: 3, points });
  return {
    api,
    owner,
    stranger,
    store,
    call,
    advance: (ms) => void (nowMs += ms),
    async close() {
      await api.close();
      await pages.close();
      await store.close();
      await database.drop();
    },
  };
}

function both<Shown>(stored: FoundDeliveries<Shown>, given: FoundDeliveries<Shown>): FoundDeliveries<Shown> {
  return { ...given, records: [...stored.records, ...given.records], completeUntil: stored.completeUntil };
}

function pointOf(fleetId: string, eventTime: number): PathPoint {
  return {
    fleetId,
    deviceId: `device-of-${fleetId}`,
    eventTime,
    latitude: 52.52,
    longitude: 13.4,
    speedInKmh: 30,
    heading: 90,
    ignition: true,
    odometerInMeters: null,
    rpm: null,
    fuelLevel: null,
    valid: true,
  };
}

async function keepOperations(store: ManagementStore, fleetId: string, subscriptionId: string): Promise<void> {
  const shared = {
    fleetId,
    subscriptionId,
    type: 'exhausted',
    reason: `Of ${fleetId}.`,
    eventId: null,
    statusCode: 503,
  } as const;
  await store.operationalEvents.keep(
    [1, 2].map((minutes) => ({
      ...shared,
      id: randomUUID(),
      occurredAt: START_MS - minutes * 60_000,
      deliveryOffset: minutes,
      errorCode: null,
    })),
  );
}

/** The ids in the path of an operation that stand for things of this fleet. */
export function idsFor({ collections }: DocumentedOperation, { made }: Fleet): readonly string[] {
  return collections.map((collection) => made.get(collection) ?? randomUUID());
}

/** The documents call what goes into a placeholder by the placeholder's name. */
function idIn(body: unknown, collection: string): string {
  const { data } = body as { readonly data?: unknown };
  const made = (Array.isArray(data) ? (data as unknown[]).at(-1) : (data ?? body)) as Record<string, unknown>;
  const [name = 'id'] = securedOperations
    .filter(({ path }) => path.startsWith(`${collection}/{`))
    .flatMap(({ path }) => /^\{([^}]+)\}/.exec(path.slice(collection.length + 1))?.[1] ?? []);
  const id = made[name];
  if (typeof id !== 'string') throw new Error(`No ${name} in ${JSON.stringify(body)}`);
  return id;
}
