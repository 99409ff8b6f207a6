import { createDataSource, createPageSource } from '@waypost/database';
import type { WebhookAttempt } from '@waypost/domain';
import { createDeliveryFigures, createDeliveryHistory, createDeliveryProjection } from '@waypost/history-store';
import { API_KEY_SCOPES, type ManagementStore } from '@waypost/management-store';
import { openTestStore, type TestStore } from '../../../../test/support/test-store.js';
import { finishedLog } from './finished-log.js';
import { startTestApi, type TestApi } from './test-api.js';
import { attemptOf, NOW, uuidOf } from './walked-deliveries.js';

const HOUR_MS = 3_600_000;
const TYPES = ['position', 'ignition_on', 'ignition_off'] as const;
const DELIVERIES_EACH = 4;

/** A subscription, and everything that must not be shown to who does not have it. */
export interface KnownSubscription {
  readonly id: string;
  readonly fleetId: string;
  readonly eventId: string;
  readonly replayId: string;
  readonly deviceId: string;
  readonly marks: readonly string[];
}

/** The API on tables with a fleet of three subscriptions, and another one like it. */
export interface FleetOfThree extends Pick<TestStore, 'sql' | 'store'> {
  readonly api: TestApi;
  /** A key of `acme` with every scope. */
  readonly key: string;
  /** All six; the first three are of `acme`, at one URL, as the others are. */
  readonly subscriptions: readonly KnownSubscription[];
  close(): Promise<void>;
}

export async function startFleetOfThree(): Promise<FleetOfThree> {
  const database = await openTestStore();
  const { store, sql, databaseUrl, apiUrl } = database;
  const pages = createPageSource(apiUrl);
  const attempts: WebhookAttempt[] = [];
  const api = await startTestApi({
    store,
    now: () => NOW,
    findApiKey: (hash) => store.apiKeys.find(hash),
    history: createDeliveryHistory({ pages }),
    figures: createDeliveryFigures({ pages }),
    attemptLog: finishedLog(attempts),
  });
  const keys: string[] = [];
  const subscriptions: KnownSubscription[] = [];
  for (const fleetId of ['acme', 'other']) {
    const key = await createFleet(store, fleetId);
    keys.push(key);
    for (const id of await subscribe(api, key)) {
      const made = deliveriesTo(fleetId, id, subscriptions.length);
      attempts.push(...made);
      subscriptions.push(await furnish({ api, store, key }, fleetId, id, made));
    }
  }
  const dataSource = await createDataSource(databaseUrl).initialize();
  const projection = createDeliveryProjection({ dataSource, now: () => NOW });
  await projection.apply({ topic: 'a', partition: 0, expectedOffset: null, nextOffset: attempts.length, attempts });
  await dataSource.destroy();
  return {
    api,
    store,
    sql,
    subscriptions,
    key: keys[0] ?? '',
    async close() {
      await api.close();
      await pages.close();
      await database.close();
    },
  };
}

async function createFleet(store: ManagementStore, fleetId: string): Promise<string> {
  await store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: NOW });
  // It has a row from its first use on, which would otherwise look like a change.
  await store.fleetPortals.of(fleetId, NOW);
  const made = await store.apiKeys.create({ fleetId, scopes: API_KEY_SCOPES, nowMs: NOW });
  if (made.type !== 'created') throw new Error('no key');
  return made.key;
}

async function subscribe(api: TestApi, key: string): Promise<string[]> {
  const json = { url: 'https://receiver.example/hook', eventTypes: TYPES };
  const { body } = await api.request('/public/v1/webhook-subscriptions', { method: 'POST', key, json });
  return (body as { data: { id: string }[] }).data.map(({ id }) => id);
}

function deliveriesTo(fleetId: string, subscription: string, which: number): WebhookAttempt[] {
  return Array.from({ length: DELIVERIES_EACH }, (_, n) =>
    attemptOf(
      fleetId,
      {
        event: which * DELIVERIES_EACH + n,
        series: 0,
        device: `device-of-${subscription}`,
        subscription,
        type: TYPES[which % TYPES.length] ?? '',
        answers: [200],
        firstAttemptAt: NOW - (n + 1) * HOUR_MS - which,
      },
      1,
    ),
  );
}

/** Adds a replay and two operational events. */
async function furnish(
  { api, store, key }: Pick<FleetOfThree, 'api' | 'store' | 'key'>,
  fleetId: string,
  id: string,
  made: readonly WebhookAttempt[],
): Promise<KnownSubscription> {
  const json = { startDate: new Date(NOW - HOUR_MS).toISOString(), endDate: new Date(NOW).toISOString() };
  const replay = await api.request(`/public/v1/webhook-subscriptions/${id}/replays`, { method: 'POST', key, json });
  const { replayId } = replay.body as { replayId: string };
  const operationalEvents = [1, 2].map((n) => uuidOf(`operational event ${String(n)} of ${id}`));
  await store.operationalEvents.keep(
    operationalEvents.map((eventId, index) => ({
      id: eventId,
      fleetId,
      subscriptionId: id,
      type: 'exhausted',
      reason: `Of ${id}.`,
      eventId: null,
      statusCode: 503,
      errorCode: null,
      occurredAt: NOW - index - 1,
      deliveryOffset: index,
    })),
  );
  const events = made.map(({ eventId }) => eventId);
  const deviceId = `device-of-${id}`;
  const marks = [id, deviceId, replayId, ...events, ...operationalEvents];
  return { id, fleetId, eventId: events[0] ?? '', replayId, deviceId, marks };
}
